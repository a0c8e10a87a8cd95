import { fileTypeFromBuffer } from 'file-type';
import { languageOfName } from './code/languages.js';
import { findBom, guessUtf16 } from './encoding/unicode.js';
import type { FormatEntry } from './format-entry.js';
import { hasZipDirectory, zipFormat } from './zip/zip-format.js';

/** Bytes that detection looks at. */
const HEAD = 64 * 1024;

const PDF_MARK = '%PDF-';
const OLE_MARK = 'd0cf11e0a1b11ae1';

/**
 * The format of a file: by marks in its content, then, for text, by its name, then by what the text looks like.
 */
export function detectFormat(bytes: Uint8Array, name: string, formats: readonly FormatEntry[]): string | undefined {
  const known = new Set(formats.map((entry) => entry.format));
  const found = formatOf(bytes, name, formats);
  return found !== undefined && known.has(found) ? found : undefined;
}

function formatOf(bytes: Uint8Array, name: string, formats: readonly FormatEntry[]): string | undefined {
  const byName = formatOfName(name, formats);
  if (bytes.length === 0) return byName;
  const head = bytes.subarray(0, HEAD);
  const latin = Buffer.from(head.buffer, head.byteOffset, head.length).toString('latin1');
  const pdf = latin.slice(0, 1024).indexOf(PDF_MARK);
  // Text about PDF may name the mark; a PDF begins with it, or has it behind a little rubbish.
  if (pdf === 0 || (pdf > 0 && (byName === 'pdf' || byName === undefined))) return 'pdf';
  const recognised = formats.find((entry) => entry.recognises?.(latin));
  if (recognised !== undefined) return recognised.format;
  if (latin.startsWith('PK\u0003\u0004') || latin.startsWith('PK\u0005\u0006')) {
    const format = zipFormat(bytes, formats);
    // Without its directory the archive is damaged or not whole: the name says whose parser reports that.
    return format ?? (isArchive(byName, formats) && !hasZipDirectory(bytes) ? byName : undefined);
  }
  if (Buffer.from(head.subarray(0, 8)).toString('hex') === OLE_MARK) return oleFormat(bytes);
  const text = readableHead(head, latin, byName !== undefined);
  const isBinary = byName !== undefined && (BINARY.has(byName) || isArchive(byName, formats));
  if (text === undefined || isCutMark(bytes, byName, formats)) return isBinary ? byName : undefined;
  return textFormat(text, byName);
}

function formatOfName(name: string, formats: readonly FormatEntry[]): string | undefined {
  const lower = name.toLowerCase();
  const extension = lower.slice(lower.lastIndexOf('.') + 1);
  const entry = formats.find((candidate) => candidate.extensions.includes(extension));
  if (entry !== undefined) return entry.format;
  return languageOfName(name) === undefined ? undefined : 'code';
}

/** Office files that are encrypted lie in an OLE container: their parser asks for the password. Others are of older programs. */
function oleFormat(bytes: Uint8Array): string | undefined {
  const utf16 = (word: string) => Buffer.from(word, 'utf16le');
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.includes(utf16('EncryptedPackage')) ? 'encrypted-office' : undefined;
}

/** The beginning as text, when it is text: no control characters but the ordinary ones, or UTF-16. */
function readableHead(head: Uint8Array, latin: string, namedAsText: boolean): string | undefined {
  const bom = findBom(head);
  if (bom !== undefined) return bom.decode(head.subarray(bom.length, head.length - (head.length % 4)));
  const utf16 = guessUtf16(head.subarray(0, head.length - (head.length % 2)));
  if (utf16 !== undefined) return utf16.text;
  const controls = latin.match(/[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/g)?.length ?? 0;
  // A few stray ones are forgiven to a file whose name says that it is text; without such a name they mean a small binary file.
  if (controls > latin.length * 0.02 && (controls > 8 || !namedAsText)) return undefined;
  return latin.replace(/^\u00ef\u00bb\u00bf/, '');
}

const HTML_START = /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->)[\s\S])*-->\s*)*(?:<!doctype\s+html|<html[\s>])/i;
const MAIL_HEADER =
  /^(?:(?:From|To|Cc|Bcc|Subject|Date|Message-ID|MIME-Version|Received|Return-Path|Delivered-To|Content-Type|Reply-To|X-[\w-]+|DKIM-Signature|List-[\w-]+): ?.*(?:\r?\n[ \t].*)*\r?\n){3,}/i;

/** Programs of the web save a table in HTML as `.xls`, without the rest of a page. */
const HTML_FRAGMENT = /^\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:table|meta|head|body|style|title|div|center|font|b|p)[\s>]/i;
const EXCEL_XML = /<(?:\w+:)?Workbook\b[^>]*urn:schemas-microsoft-com:office:spreadsheet/;
const WEB_ARCHIVE = /^(?:[\w-]+:.*(?:\r?\n[ \t].*)*\r?\n)*?Content-Type:\s*multipart\/related\b/i;

/** Formats of text whose names say more than their content can. */
function textFormat(text: string, byName: string | undefined): string | undefined {
  // Ciphertext is no text.
  if (/^\s*-----BEGIN PGP MESSAGE-----/.test(text)) return undefined;
  if (/^\s*<\?xml\b/.test(text) && EXCEL_XML.test(text.slice(0, 4096))) return 'excel-xml';
  // A web page that was saved whole, under whatever name.
  if ((byName === undefined || BINARY.has(byName)) && WEB_ARCHIVE.test(text.slice(0, 4096)) && /^MIME-Version:/im.test(text))
    return 'mhtml';
  if ((byName === undefined || BINARY.has(byName)) && HTML_FRAGMENT.test(text)) return 'html';
  if (byName === 'text' || byName === undefined || BINARY.has(byName)) {
    if (HTML_START.test(text.slice(0, 4096))) return 'html';
    if (/^From: |^Received: |^Return-Path: /im.test(text.slice(0, 400)) && MAIL_HEADER.test(text)) return 'eml';
  }
  if (byName !== undefined && !BINARY.has(byName)) return byName;
  if (/^#!.*\b(?:sh|bash|zsh|ksh|python[\d.]*|node|ruby|perl)\b/.test(text)) return 'code';
  if (byName === undefined && isJson(text)) return 'json';
  return 'text';
}

/** A name that promises one of these over plain text lies. */
const BINARY = new Set(['pdf', 'docx', 'pptx', 'xlsx', 'encrypted-office']);

function isArchive(format: string | undefined, formats: readonly FormatEntry[]): boolean {
  return formats.some((entry) => entry.format === format && entry.parts !== undefined);
}

/** A file of these formats that ends within the mark at its beginning. */
function isCutMark(bytes: Uint8Array, byName: string | undefined, formats: readonly FormatEntry[]): boolean {
  const mark = byName === 'pdf' ? PDF_MARK : isArchive(byName, formats) ? 'PK\u0003\u0004' : '';
  return bytes.length < mark.length && mark.startsWith(Buffer.from(bytes).toString('latin1'));
}

function isJson(text: string): boolean {
  if (!/^\s*[[{]\s*["[{\]}\d]/.test(text) || text.length >= HEAD) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Says what an unsupported file is, for people. */
export async function describeUnsupported(bytes: Uint8Array, name: string): Promise<string> {
  const type = await fileTypeFromBuffer(bytes.subarray(0, HEAD)).catch(() => undefined);
  const what = type === undefined ? 'of a type' : `${type.mime},`;
  return `${name} is ${what} that Sluice does not read; see docs/formats.md for those it does`;
}
