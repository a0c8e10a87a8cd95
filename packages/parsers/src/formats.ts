import { FRONT_MATTER_EXTENSIONS } from '@sluice/metadata';
import { asciidoc } from './asciidoc/format.js';
import { CODE_EXTENSIONS } from './code/languages.js';
import { epub } from './epub/format.js';
import type { FormatEntry } from './format-entry.js';
import { ipynb } from './ipynb/format.js';
import { latex } from './latex/format.js';
import { mbox } from './mbox/format.js';
import { odf } from './odf/format.js';
import { org } from './org/format.js';
import { rst } from './rst/format.js';
import { rtf } from './rtf/format.js';
import { subtitles } from './subtitles/format.js';
import { xml } from './xml-file/format.js';
import { yaml } from './yaml/format.js';

/** Every format that is read: one entry each. docs/formats.md is made from this table (`npm run formats`). */
export const FORMATS: readonly FormatEntry[] = [
  {
    format: 'pdf',
    version: 4,
    title: 'PDF',
    extensions: ['pdf'],
    content: '`%PDF-`',
    neverEmpty: true,
    reads:
      'Text by page in reading order, columns one after the other; headings by tags and outline, else by size and font, lists, tables where the layout shows them, captions, code, filled form fields, free-text annotations, powers as `10^6`. Text drawn twice is read once, letters set apart are joined; words broken at line ends are joined; what repeats at the edges of pages and page numbers are left out (`pdf.headers_footers`). Glyphs without characters are a warning. Encrypted files open with the `passwords` of the source. Scanned pages give nothing, unless `pdf.ocr` is set and `tesseract` installed.',
    load: async () => (await import('./pdf/parse-pdf.js')).parsePdf,
  },
  {
    format: 'docx',
    version: 3,
    title: 'Word',
    extensions: ['docx', 'docm', 'dotx'],
    content: 'zip archive with `word/document.xml`',
    reads:
      'Body in order, all tracked changes accepted: headings by style and outline level, headings and lists with their numbers, tables (merged cells repeat, nested tables within their cell), text boxes once, charts as tables, formulas, powers as `10^6`, embedded documents (`altChunk`) in place, foot- and endnotes at the end, then headers and footers that say what the body does not (`docx.headers_footers`). Not read: comments, pictures.',
    parts: ['[Content_Types].xml', 'word/document'],
    load: async (children) => (await import('./docx/parse-docx.js')).createDocxParser(children),
  },
  {
    format: 'pptx',
    version: 2,
    title: 'PowerPoint',
    extensions: ['pptx', 'pptm', 'ppsx'],
    content: 'zip archive with `ppt/presentation.xml`',
    reads:
      'Slides in the order of the show, `page` is the slide: title, text in groups too, lists, tables, diagrams, charts as tables, notes (`pptx.notes`). Hidden slides only with `pptx.hidden_slides`. Not read: pictures, slide numbers.',
    parts: ['[Content_Types].xml', 'ppt/presentation'],
    load: async () => (await import('./pptx/parse-pptx.js')).parsePptx,
  },
  {
    format: 'xlsx',
    version: 2,
    title: 'Excel',
    extensions: ['xlsx', 'xlsm', 'xltx'],
    content: 'zip archive with `xl/workbook.xml`',
    reads:
      'A level-1 heading and a table a sheet (several where blank rows part them): values as computed, dates as ISO 8601 in both date systems, percentages, numbers as shown where their format adds zeros, words or currency signs, merged cells repeated; header rows below titles, of several rows too. Hidden sheets only with `xlsx.hidden_sheets`; hidden rows and columns are read. Not read: charts, comments, formulas.',
    parts: ['[Content_Types].xml', 'xl/workbook.xml'],
    load: async () => (await import('./xlsx/parse-xlsx.js')).parseXlsx,
  },
  {
    format: 'excel-xml',
    version: 1,
    title: 'Excel 2003 XML',
    extensions: [],
    content: 'XML with a `Workbook` of Excel 2003, often named `.xls`',
    reads: 'As Excel: a heading and tables a sheet, merged cells repeated.',
    load: async () => (await import('./xlsx/parse-excel-xml.js')).parseExcelXml,
  },
  {
    format: 'encrypted-office',
    version: 1,
    title: 'Word, PowerPoint, Excel with a password',
    extensions: [],
    content: 'compound file with `EncryptedPackage`',
    reads: "What is inside, once one of the source's `passwords` opens it (agile and standard encryption).",
    load: async (children) =>
      (await import('./office/parse-encrypted.js')).createEncryptedOfficeParser((input) => children.parse(input)),
  },
  {
    format: 'eml',
    version: 6,
    title: 'Mail',
    extensions: ['eml'],
    content: 'lines of mail headers',
    reads:
      'Subject as heading, who and when, the plain text or else the HTML, mails within mails, attachments by their own formats (`eml.attachments`), each a section under its name that fails alone.',
    load: async (children) => (await import('./eml/parse-eml.js')).createEmlParser(children),
  },
  {
    format: 'csv',
    version: 4,
    title: 'CSV, TSV',
    extensions: ['csv', 'tsv', 'tab'],
    content: '-',
    reads:
      'One table; commas, semicolons, tabs or bars; the first row is the header unless it plainly holds data; a row of groups above it or of units below it belongs to it.',
    load: async () => (await import('./csv/parse-csv.js')).parseCsv,
  },
  {
    format: 'json',
    version: 3,
    title: 'JSON',
    extensions: ['json', 'geojson', 'jsonld', 'webmanifest'],
    content: 'valid JSON, where the name says nothing',
    reads:
      'The file as it is (escaped letters are found as what they mean), parted at members and list items, each with its path and the short members of what encloses it. Comments, single quotes and commas too many are forgiven: read as text, with the warning `malformed`. A file that ends before its brackets close is `corrupt`: half a file takes the place of no whole one.',
    load: async () => (await import('./json/parse-json.js')).parseJson,
  },
  {
    format: 'jsonl',
    version: 1,
    title: 'JSON Lines',
    extensions: ['jsonl', 'ndjson'],
    content: '-',
    reads: 'The file as it is, an element a line.',
    load: async () => (await import('./json/parse-json.js')).parseJsonLines,
  },
  {
    format: 'html',
    version: 5,
    title: 'HTML',
    extensions: ['html', 'htm', 'xhtml'],
    content: '`<!doctype html>`, `<html>`; tables in HTML named `.xls` or `.doc`',
    reads:
      'Main content (all with `html.main_content: false`): headings, paragraphs, lists, tables with spans written out, `pre`, quotes, captions. Not read: navigation, footers, scripts, forms, pictures.',
    load: async () => (await import('./html/parse-html.js')).parseHtml,
  },
  {
    format: 'mhtml',
    version: 1,
    title: 'Web archive (MHTML)',
    extensions: ['mht', 'mhtml'],
    content: 'mail headers with `multipart/related`, also named `.doc` or `.xls`',
    reads: 'The page, as HTML is read. Not read: its pictures and frames.',
    load: async () => (await import('./html/parse-mhtml.js')).parseMhtml,
  },
  epub,
  odf,
  rtf,
  ipynb,
  subtitles,
  mbox,
  rst,
  asciidoc,
  org,
  latex,
  yaml,
  xml,
  {
    format: 'markdown',
    version: 2,
    title: 'Markdown',
    extensions: [...FRONT_MATTER_EXTENSIONS],
    content: '-',
    reads: 'CommonMark with tables and footnotes of GitHub, YAML front matter. The text is the file’s.',
    load: async () => (await import('./markdown/parse-markdown.js')).parseMarkdown,
  },
  {
    format: 'code',
    version: 1,
    title: 'Source code',
    extensions: Object.keys(CODE_EXTENSIONS),
    content: '`#!` line',
    reads:
      'The file as it is. TypeScript, JavaScript, Python, Go, Rust, Java, C, C++, shell, C#, Ruby and PHP are parted at functions and classes, with their comments and the names that enclose them; other languages, and configuration such as TOML, at blank lines.',
    load: async () => (await import('./code/parse-code.js')).parseCode,
  },
  {
    format: 'sql',
    version: 1,
    title: 'SQL',
    extensions: ['sql', 'ddl', 'dml', 'psql', 'pls'],
    content: '-',
    reads:
      'The file as it is, an element a statement with the comments before it; bodies of functions and procedures stay whole.',
    load: async () => (await import('./sql/parse-sql.js')).parseSql,
  },
  {
    format: 'text',
    version: 2,
    title: 'Plain text',
    extensions: ['txt', 'text', 'log', 'me', 'nfo', 'diff', 'patch'],
    content: 'text in a known encoding',
    reads: 'Paragraphs between blank lines, lists where each item begins with a marker.',
    load: async () => (await import('./text/parse-text.js')).parseText,
  },
];
