import { type ParsedDocument, type ParseInput, type SelfMetadata, SluiceError } from '@sluice/core';
import { oneLine } from '../clean-text.js';
import { createDocumentBuilder } from '../document-builder.js';
import { decodeLabelled } from '../encoding/decode-bytes.js';
import { finishBuilt } from '../finish-document.js';
import { breathe, depthExceeded } from '../limits.js';
import { type RtfToken, rtfTokens } from './rtf-tokens.js';
import { CHARSETS, labelOf, SIGNS, SKIPPED } from './rtf-words.js';
import { createRtfWriter, type RtfWriter } from './rtf-writer.js';

/** What holds within a group, and ends with it. */
interface State {
  /** Where text goes. */
  target: 'body' | 'skip' | 'fonts' | 'styles' | 'title' | 'author' | 'marker' | 'note';
  font: number;
  hidden: boolean;
  script: 'super' | 'sub' | undefined;
  /** Characters that stand in for one of Unicode (`\uc`). */
  substitutes: number;
}

const STRIDE = 100_000;

/** Rich Text Format, read token by token. */
export async function parseRtf(input: ParseInput): Promise<ParsedDocument> {
  const source = Buffer.from(input.bytes.buffer, input.bytes.byteOffset, input.bytes.byteLength).toString('latin1');
  const builder = createDocumentBuilder(input.limits);
  const reader = createReader(createRtfWriter(builder), input);
  let count = 0;
  for (const token of rtfTokens(source)) {
    reader.take(token);
    if (++count % STRIDE === 0) await breathe(input);
  }
  const { metadata, depth } = reader.close();
  if (depth > 0) throw new SluiceError('corrupt', `${input.name} is cut off: ${depth} of its groups are never closed`);
  return finishBuilt('rtf', builder, { metadata, warnings: [], titleFromHeading: true });
}

/** What changes for the characters that follow in the group. */
function applyCharacter(state: State, name: string, value: number | undefined): void {
  if (name === 'f') state.font = value ?? 0;
  else if (name === 'uc') state.substitutes = Math.min(value ?? 1, 8);
  else if (name === 'v' || name === 'deleted') state.hidden = value !== 0;
  else if (name === 'plain') Object.assign(state, { hidden: false, script: undefined });
  else if (name === 'super' || name === 'sub') state.script = value === 0 ? undefined : name;
  else if (name === 'nosupersub') state.script = undefined;
}

/** Turns a group into one that holds something else than the text around it; false where the word is none that does. */
function isDestination(state: State, name: string): boolean {
  if (SKIPPED.has(name)) state.target = 'skip';
  else if (name === 'fonttbl') state.target = 'fonts';
  else if (name === 'stylesheet') state.target = 'styles';
  else if (name === 'footnote') state.target = 'note';
  else if ((name === 'pntext' || name === 'listtext') && state.target === 'body') state.target = 'marker';
  else if ((name === 'title' || name === 'author') && state.target === 'skip') state.target = name;
  else if (name === 'shptxt') state.target = 'body';
  else return false;
  return true;
}

/** Decodes bytes by the character sets of fonts, and by the code page of the file. */
function createDecoder() {
  const fonts = new Map<number, number>();
  let codePage = 1252;
  let defaultFont = 0;
  /** Not decoded yet: a character may be two bytes. */
  let bytes = '';
  return {
    add(more: string): void {
      bytes += more;
    },
    take(font: number): string {
      const page = fonts.get(font < 0 ? defaultFont : font) ?? codePage;
      const text = /^[\x00-\x7f]*$/.test(bytes) ? bytes : (decodeLabelled(Buffer.from(bytes, 'latin1'), labelOf(page)) ?? bytes);
      bytes = '';
      return text;
    },
    /** False for a word that says nothing of encodings. */
    control(name: string, value: number | undefined, font: number): boolean {
      if (name === 'ansicpg') codePage = value ?? 1252;
      else if (name === 'mac') codePage = 10000;
      else if (name === 'deff') defaultFont = value ?? 0;
      else if (name === 'fcharset') {
        const page = CHARSETS[value ?? 0];
        if (page !== undefined) fonts.set(font, page);
      } else return false;
      return true;
    },
  };
}

function createReader(writer: RtfWriter, input: ParseInput) {
  const stack: State[] = [];
  let state: State = { target: 'body', font: -1, hidden: false, script: undefined, substitutes: 1 };
  const decoder = createDecoder();
  const facts = { title: '', author: '', style: '', note: '', marker: '' };
  let styleNumber = 0;
  let styleLevel: number | undefined;
  let skip = 0;
  let starred = false;

  function flush(): void {
    const text = decoder.take(state.font);
    if (text !== '') put(text);
  }

  function put(text: string): void {
    if (state.hidden && state.target === 'body') return;
    switch (state.target) {
      case 'body':
        writer.text(text, state.script);
        return;
      case 'skip':
      case 'fonts':
        return;
      case 'styles':
        facts.style += text;
        return;
      default:
        facts[state.target] += text;
    }
  }

  function close(): void {
    flush();
    const ended = state;
    state = stack.pop() ?? state;
    if (ended.target === 'styles' && facts.style !== '') {
      const level = /^(?:heading|überschrift|titre|título|titolo) (\d)\b/i.exec(facts.style.trim())?.[1];
      const known = level === undefined ? (/^title\b/i.test(facts.style.trim()) ? 1 : styleLevel) : Number(level);
      if (known !== undefined) writer.style(styleNumber, known);
      facts.style = '';
      styleLevel = undefined;
    } else if (ended.target === 'note' && state.target !== 'note') {
      writer.note(facts.note);
      facts.note = '';
    } else if (ended.target === 'marker' && state.target !== 'marker') {
      writer.marker(facts.marker);
      facts.marker = '';
    }
  }

  function word(name: string, value: number | undefined): void {
    if (name === 'u') {
      flush();
      put(String.fromCharCode(((value ?? 0) + 0x10000) % 0x10000));
      skip = state.substitutes;
      return;
    }
    skip = 0;
    if (starred && name !== 'shppict' && name !== 'pn' && name !== 'shpinst' && name !== 'shptxt')
      state.target = name === 'footnote' ? 'note' : 'skip';
    starred = false;
    flush();
    if (isDestination(state, name)) return;
    if (name in SIGNS && name !== 'par') put(SIGNS[name] ?? '');
    else if (state.target === 'body' && !state.hidden) writer.control(name, value);
    else if (name === 'par') put(' ');
    property(name, value);
  }

  function property(name: string, value: number | undefined): void {
    if (decoder.control(name, value, state.font)) return;
    if (state.target === 'styles' && name === 's') styleNumber = value ?? 0;
    else if (state.target === 'styles' && name === 'outlinelevel' && value !== undefined && value < 9) styleLevel = value + 1;
    else applyCharacter(state, name, value);
  }

  return {
    take(token: RtfToken): void {
      if (token.kind === 'text') {
        const drop = Math.min(skip, token.bytes.length);
        skip -= drop;
        decoder.add(token.bytes.slice(drop));
      } else if (token.kind === 'word' && token.name === '*') starred = true;
      else if (token.kind === 'word') word(token.name, token.value);
      else if (token.kind === 'open') {
        flush();
        skip = 0;
        if (stack.length >= input.limits.depth * 5) throw depthExceeded(input.limits);
        stack.push(state);
        state = { ...state };
      } else {
        starred = false;
        close();
      }
    },
    close(): { metadata: SelfMetadata; depth: number } {
      flush();
      writer.close();
      const title = oneLine(facts.title);
      const author = oneLine(facts.author);
      return {
        metadata: { ...(title === '' ? {} : { doc_title: title }), ...(author === '' ? {} : { author }) },
        depth: stack.length,
      };
    },
  };
}
