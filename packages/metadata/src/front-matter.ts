import { SluiceError } from '@sluice/core';
import { decodeYamlBytes } from './decode.js';
import { readYaml, speaksOfAccess, unreadableYaml } from './yaml.js';

export interface FrontMatter {
  /** The mapping as read: YAML 1.2 core schema, dates as text. */
  data: Record<string, unknown>;
  /** Offset of the opening `---`, in UTF-16 units. */
  start: number;
  /** Offset behind the closing line and its line break: where the body begins. */
  end: number;
}

/** The block may be this long (UTF-16 units); a closing line further away closes nothing. */
export const MAX_FRONT_MATTER = 65_536;

/** How far (UTF-16 units) front matter without an end is searched for access. Its bytes lie within what is read before parsing. */
const UNCLOSED_BOUND = 4 * MAX_FRONT_MATTER;

/** Extensions of the format that may begin with front matter. The parser's list of names is this one. */
export const FRONT_MATTER_EXTENSIONS: readonly string[] = ['md', 'markdown', 'mdown', 'mkd', 'mdx', 'qmd', 'rmd'];

/** Extensions of prose, and none at all, before which other tools put front matter. Here it is text, and must not set access. */
const UNREAD_EXTENSIONS: readonly string[] = ['', 'txt', 'text', 'html', 'htm', 'xhtml', 'adoc', 'asciidoc', 'rst', 'org', 'tex'];

/** Bytes in which front matter shows itself. */
const OPENING_BYTES = 256;
/** Bytes that hold the longest front matter, four a character at most. */
const FRONT_MATTER_BYTES = 4 * MAX_FRONT_MATTER;

/** Whether a file of this name or path may begin with front matter. */
export function mayHaveFrontMatter(path: string): boolean {
  return FRONT_MATTER_EXTENSIONS.includes(extensionOf(path));
}

function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}

/**
 * Checks the beginning of a file whose format has no front matter that is read, as `.txt` or `.html`. Taken for text, it would show the
 * document to readers it was meant to be hidden from.
 *
 * @param readHead gives the first bytes of the file, at most so many; called a second time only where there is front matter
 * @throws SluiceError `invalid_metadata` with `details.access` when the file begins with front matter that sets access
 */
export async function refuseUnreadAccess(
  path: string,
  readHead: (bytes: number) => Uint8Array | Promise<Uint8Array>,
): Promise<void> {
  if (!UNREAD_EXTENSIONS.includes(extensionOf(path))) return;
  const opening = decodeYamlBytes(await readHead(OPENING_BYTES));
  if (!/^\s*(?:---|\+\+\+|;;;)[^\n]*(?:\n|$)/.test(opening)) return;
  const head = decodeYamlBytes(await readHead(FRONT_MATTER_BYTES));
  if (!setsAccess(head)) return;
  const message = 'front matter sets access, but is not read in this format; write it into a sidecar beside the file';
  throw new SluiceError('invalid_metadata', message, { details: { field: 'front matter', access: true } });
}

function setsAccess(text: string): boolean {
  try {
    const found = frontMatterOf(text);
    return found !== undefined && keysOf(found.data).some(speaksOfAccess);
  } catch (thrown) {
    return thrown instanceof SluiceError && thrown.details?.access === true;
  }
}

/** The names in a mapping and in all mappings in it. */
function keysOf(data: Record<string, unknown>): string[] {
  const keys: string[] = [];
  JSON.stringify(data, (key, value: unknown) => {
    keys.push(key);
    return value;
  });
  return keys;
}

const OPENING = /^---[ \t]*$/;
const CLOSING = /^(?:---|\.\.\.)[ \t]*$/;
// One class up to the colon: two that both take spaces need quadratic time for a long run of them.
const KEY_LINE = /^(?:"[^"\n]+"[ \t]*|'[^'\n]+'[ \t]*|[\p{L}_][\p{L}\p{N}_. \t-]*):(?:[ \t]|$)/u;
const YAML_LINE = /^(?:\s|#|- |-$|\}|\])/;

/**
 * The YAML front matter of a text (BOM removed or not, line ends LF), or undefined where there is none: when the first line is no `---`,
 * nothing closes it within {@link MAX_FRONT_MATTER}, or what lies between is prose (a document may begin with a rule). A pure
 * function: the same text gives the same answer every time.
 *
 * @throws SluiceError `invalid_metadata` when the block is plainly meant as front matter and can't be read (bad YAML, a key twice,
 *   too many aliases), and when front matter that speaks of level or groups is never closed, does not begin in the first line, or is
 *   TOML or JSON: to take it for text would show a document to readers it was meant to be hidden from. `details.access` is true when
 *   level or groups are concerned.
 */
export function frontMatterOf(text: string): FrontMatter | undefined {
  const start = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  const opening = lineAt(text, start);
  if (!OPENING.test(opening.line)) return refuseOtherForms(text, start);
  if (opening.next === undefined) return undefined;

  const bodyStart = opening.next;
  const closing = findClosing(text, bodyStart);
  if (closing === undefined) return refuseUnclosedAccess(text, bodyStart);

  const block = text.slice(bodyStart, closing.start);
  const span = { start, end: closing.end };
  if (block.trim() === '') return { data: {}, ...span };
  const reading = readYaml(block);
  switch (reading.kind) {
    case 'mapping':
      return { data: reading.data, ...span };
    case 'error':
      if (isMeantAsYaml(block)) throw unreadableYaml('front matter', reading.message, block);
      return undefined;
    // Comments alone are a Markdown heading between two rules; a scalar or a list is prose.
    case 'empty':
    case 'other':
      return undefined;
  }
}

function lineAt(text: string, start: number): { line: string; next: number | undefined } {
  const end = text.indexOf('\n', start);
  // The first line of a text without line breaks may be the whole of it: no copy of more than a marker needs.
  if (end === -1) return { line: text.slice(start, start + 100), next: undefined };
  return { line: text.slice(start, Math.min(end, start + 100)), next: end + 1 };
}

function findClosing(text: string, from: number): { start: number; end: number } | undefined {
  let at: number | undefined = from;
  while (at !== undefined && at - from <= MAX_FRONT_MATTER) {
    const { line, next } = lineAt(text, at);
    if (CLOSING.test(line)) return { start: at, end: next ?? text.length };
    at = next;
  }
  return undefined;
}

/** YAML that fails to parse is front matter all the same when most of its lines look like YAML, or when it speaks of access. */
function isMeantAsYaml(block: string): boolean {
  const lines = block.split('\n').filter((line) => line.trim() !== '');
  const first = lines[0];
  if (first === undefined || !KEY_LINE.test(first)) return accessLine(lines);
  const alike = lines.filter((line) => KEY_LINE.test(line) || YAML_LINE.test(line)).length;
  return alike * 2 > lines.length || accessLine(lines);
}

function accessLine(lines: readonly string[]): boolean {
  return lines.some((line) => KEY_LINE.test(line) && speaksOfAccess(line.slice(0, line.indexOf(':'))));
}

/**
 * Front matter that no line ends, or only one too far away, is text, unless it sets access: what stands above the first line of prose,
 * past blank lines and comments as YAML is, or in the first paragraph.
 */
function refuseUnclosedAccess(text: string, bodyStart: number): undefined {
  const lines: string[] = [];
  let isParagraph = true;
  let isYaml = true;
  for (
    let at: number | undefined = bodyStart;
    at !== undefined && at - bodyStart <= UNCLOSED_BOUND && (isParagraph || isYaml);
  ) {
    const { line, next } = lineAt(text, at);
    at = next;
    const isBlank = line.trim() === '';
    isParagraph &&= !isBlank || lines.length === 0;
    isYaml &&= isBlank || KEY_LINE.test(line) || YAML_LINE.test(line);
    if (!isBlank && (isParagraph || isYaml) && (lines.length > 0 || !line.startsWith('#'))) lines.push(line);
  }
  if (lines[0] === undefined || !KEY_LINE.test(lines[0]) || !accessLine(lines)) return undefined;
  const message = `it begins with --- and sets access, but no line of --- ends it within ${MAX_FRONT_MATTER} characters`;
  throw unreadableYaml('front matter', message, lines.join('\n'));
}

/** How front matter of other tools begins, below empty lines at most, and what ends it. */
const OTHER_FORMS: readonly { opening: RegExp; closing: RegExp; mayCloseAtOnce?: true }[] = [
  { opening: /^[ \t]*---[ \t]*[a-z]*[ \t]*$/i, closing: /^[ \t]*(?:---|\.\.\.)[ \t]*$/ },
  { opening: /^[ \t]*\+\+\+[ \t]*[a-z]*[ \t]*$/i, closing: /^[ \t]*\+\+\+[ \t]*$/ },
  { opening: /^[ \t]*;;;[ \t]*[a-z]*[ \t]*$/i, closing: /^[ \t]*;;;[ \t]*$/ },
  { opening: /^[ \t]*\{/, closing: /\}[ \t]*$/, mayCloseAtOnce: true },
];

/** A name and what sets it, in YAML, TOML or JSON; names stand at the start of a line, or behind a bracket or comma. */
const ANY_KEY = /(?:^|[{,])[ \t]*["']?([\p{L}_][\p{L}\p{N}_.-]*)["']?[ \t]*[:=]/gu;

/** Front matter in a form that is not read is text, unless it sets access. */
function refuseOtherForms(text: string, start: number): undefined {
  let from = start;
  let first = lineAt(text, start);
  while (first.line.trim() === '' && first.next !== undefined && first.next - start <= MAX_FRONT_MATTER) {
    from = first.next;
    first = lineAt(text, from);
  }
  const form = OTHER_FORMS.find(({ opening }) => opening.test(first.line));
  if (form === undefined) return undefined;
  const lines: string[] = [];
  for (const line of text.slice(from, from + MAX_FRONT_MATTER).split('\n')) {
    lines.push(line);
    if ((lines.length > 1 || form.mayCloseAtOnce) && form.closing.test(line)) break;
  }
  const names = lines.flatMap((line) => [...line.matchAll(ANY_KEY)].map(([, name = '']) => name));
  if (!names.some(speaksOfAccess)) return undefined;
  const message = 'it sets access in a form that is not read: write YAML between lines of ---, from the first line of the file';
  throw unreadableYaml('front matter', message, names.join('\n'));
}
