import { CODE_EXTENSIONS } from './code/languages.js';
import type { FormatEntry } from './format-entry.js';

/** Every format that is read: one entry each. docs/formats.md is made from this table (`npm run formats`). */
export const FORMATS: readonly FormatEntry[] = [
  {
    format: 'pdf',
    version: 1,
    title: 'PDF',
    extensions: ['pdf'],
    content: '`%PDF-`',
    reads: 'Text by page.',
    load: async () => (await import('./pdf/parse-pdf.js')).parsePdf,
  },
  {
    format: 'html',
    version: 1,
    title: 'HTML',
    extensions: ['html', 'htm', 'xhtml'],
    content: '`<!doctype html>`, `<html>`',
    reads: 'Main content.',
    load: async () => (await import('./html/parse-html.js')).parseHtml,
  },
  {
    format: 'markdown',
    version: 1,
    title: 'Markdown',
    extensions: ['md', 'markdown', 'mdown', 'mkd', 'mdx', 'qmd', 'rmd'],
    content: '-',
    reads: 'GitHub Flavored Markdown with YAML front matter.',
    load: async () => (await import('./markdown/parse-markdown.js')).parseMarkdown,
  },
  {
    format: 'code',
    version: 1,
    title: 'Source code',
    extensions: Object.keys(CODE_EXTENSIONS),
    content: '`#!` line',
    reads: 'Source code as text.',
    load: async () => (await import('./code/parse-code.js')).parseCode,
  },
  {
    format: 'text',
    version: 1,
    title: 'Plain text',
    extensions: ['txt', 'text', 'log', 'rst', 'adoc', 'asciidoc', 'org', 'tex', 'srt', 'vtt', 'me', 'nfo', 'diff', 'patch'],
    content: 'text in a known encoding',
    reads: 'Paragraphs between blank lines.',
    load: async () => (await import('./text/parse-text.js')).parseText,
  },
];
