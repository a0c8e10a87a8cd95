import type { ParsedDocument, ParseInput } from '@sluice/core';
import { cleanText, oneLine } from '../clean-text.js';
import { createDocumentBuilder } from '../document-builder.js';
import { decodeBytes } from '../encoding/decode-bytes.js';
import { finishBuilt } from '../finish-document.js';
import { checkAborted } from '../limits.js';

const TIMES = /^\s*((?:\d{1,3}:)?\d{1,2}:\d{2})[.,]\d{1,3}\s*-->/;
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', nbsp: ' ', lrm: '', rlm: '' };
/** A paragraph ends with the sentence behind this length (UTF-16 units), at the latest behind four times as much. */
const PARAGRAPH = 250;
const SENTENCE_END = /[.!?…。！？]["'”’»)\]]*$/;

/** Subtitles in the forms of SubRip and WebVTT: what is said, with the times as marks in the text. */
export async function parseSubtitles(input: ParseInput): Promise<ParsedDocument> {
  const decoded = decodeBytes(input.bytes);
  const builder = createDocumentBuilder(input.limits);
  let time = '';
  let words = '';
  let last = '';
  const flush = (): void => {
    if (words !== '') builder.paragraph(`[${time}] ${words}`);
    words = '';
  };
  for (const block of cleanText(decoded.text).split(/\n[ \t]*\n\s*/)) {
    checkAborted(input);
    const lines = block.split('\n');
    const at = lines.findIndex((line) => TIMES.test(line));
    if (at < 0) continue;
    const text = oneLine(plain(lines.slice(at + 1).join(' ')));
    // Captions that roll show each line again.
    if (text === '' || text === last) continue;
    last = text;
    if (words === '') time = clock(TIMES.exec(lines[at] ?? '')?.[1] ?? '');
    words = words === '' ? text : `${words} ${text}`;
    if ((words.length >= PARAGRAPH && SENTENCE_END.test(words)) || words.length >= 4 * PARAGRAPH) flush();
  }
  flush();
  return finishBuilt('subtitles', builder, { metadata: {}, warnings: decoded.warnings });
}

function clock(time: string): string {
  const parts = time.split(':').map((part) => part.padStart(2, '0'));
  return (parts.length === 2 ? ['00', ...parts] : parts).join(':');
}

/** Without tags and marks of style; the speaker's name stays. */
function plain(text: string): string {
  return text
    .replace(/<v(?:\.[^ >]*)?\s+([^>]+)>/gi, '$1: ')
    .replace(/<\/?[a-z\d][^>]*>|\{\\[^}]*\}/gi, '')
    .replace(/&(\w{2,4});/g, (whole, name: string) => ENTITIES[name] ?? whole);
}
