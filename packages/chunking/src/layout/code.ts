import { edgeAfter, edgeBefore } from '../text/graphemes.js';
import { findNewline, isSpace } from '../text/space.js';
import { type Atom, QUALITY } from './atoms.js';
import { atomOf, type ExplodeOptions, explodeWords } from './explode.js';

/** A line that closes what stands above it, or goes on with it. */
const CLOSES = /^(?:[}\])]|end\b|else\b|elif\b|except\b|finally\b|catch\b|then\b|fi\b|done\b|esac\b|```|~~~)/;

/** Cuts code between lines, best where a blank line parts two of little indentation. A line keeps its indentation. */
export function* explodeCode(range: { start: number; end: number }, before: number, options: ExplodeOptions): Generator<Atom> {
  const { measure, room } = options;
  const { text } = measure;
  let at = range.start;
  let quality = before;
  let blank = false;
  let first = true;
  while (at < range.end) {
    const newline = findNewline(text, at, range.end);
    const lineEnd = newline < 0 ? range.end : newline;
    const end = Math.min(range.end, edgeAfter(text, visibleEnd(text, at, lineEnd)));
    if (end > at) {
      const start = edgeBefore(text, at);
      if (!first) quality = lineQuality(text, start, end, blank);
      const line = { start: first ? at : start, end };
      if (measure.fits(line.start, line.end, room)) yield atomOf(measure, line, quality);
      else yield* explodeWords(line, quality, options);
      first = false;
      blank = false;
    } else {
      blank = true;
    }
    at = lineEnd + 1;
  }
}

/** The line's end without white space; its start for a blank line. */
function visibleEnd(text: string, start: number, end: number): number {
  let at = end;
  while (at > start && isSpace(text.charCodeAt(at - 1))) at--;
  return at;
}

function lineQuality(text: string, start: number, end: number, blank: boolean): number {
  let indent = 0;
  let at = start;
  for (; at < end && isSpace(text.charCodeAt(at)); at++) indent += text.charCodeAt(at) === 0x09 ? 4 : 1;
  if (CLOSES.test(text.slice(at, Math.min(end, at + 8)))) return QUALITY.clause;
  return QUALITY.line + 1 / (2 + indent / 2) + (blank ? 0.4 : 0);
}

/** The first line of a definition, to be embedded above its later parts; '' when it is no short line. */
export function signatureOf(text: string, start: number, end: number): string {
  for (let at = start, lines = 0; at < end && lines < 40; lines++) {
    const newline = findNewline(text, at, end);
    const lineEnd = newline < 0 ? end : newline;
    const line = text.slice(at, Math.min(lineEnd, at + 300)).trim();
    if (line !== '' && !COMMENT.test(line)) return lineEnd - at < 300 ? line : '';
    at = lineEnd + 1;
  }
  return '';
}

/** Comments, decorators and fences above a definition. */
const COMMENT = /^(?:\/\/|\/\*|\*|#(?!include|define)|--|@|"""|'''|```|~~~|;)/;
