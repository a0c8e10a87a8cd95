import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SluiceError, type Tokenizer } from '@sluice/core';
import { z } from 'zod';
import { createGeneralScan, type Scan } from './general-tokenizer.js';
import { createTextCache } from './text-cache.js';
import { readTokenizerFile, type TemplatePart, type WordPieceFile } from './tokenizer-file.js';
import { createWordPieces, type Pieces } from './word-pieces.js';

/** Grows when the same text may give other pieces. */
const TOKENIZER_VERSION = 1;
/**
 * Models that were trained on less than what their files say they take: past it vectors go bad without an error.
 * all-MiniLM-L6-v2: its model card, "input text longer than 256 word pieces is truncated".
 */
const TRAINED_LENGTHS = new Map([
  ['all-MiniLM-L6-v2', 256],
  ['all-MiniLM-L12-v2', 128],
]);

const NO_PIECES = new Int32Array(0);

/** Families whose position embeddings begin behind that of the padding. */
const FIRST_POSITIONS = new Map(['roberta', 'xlm-roberta', 'camembert', 'mpnet'].map((family) => [family, 2]));

/** What BERT's position embeddings reach to. */
const BERT_POSITIONS = 512;

export interface TokenizerOptions {
  /** Folder with `tokenizer.json`, `config.json` and, where there is one, `tokenizer_config.json`. */
  folder: string;
  /** The largest count the model takes, special tokens included. Default: the length the model was trained on, 256 for MiniLM. */
  maxTokens?: number;
}

/** A {@link Tokenizer} that also gives the ids a model is run with. */
export interface ModelTokenizer extends Tokenizer {
  /** `wordpiece`: the fast path, for BERT-like models; `general`: every other tokenizer, run by @xenova/transformers. */
  readonly kind: 'wordpiece' | 'general';
  /** Ids with the special tokens, never cut. `prefix`: ids that go before the text's own. */
  encode(text: string, prefix?: Int32Array): Int32Array;
  /** Ids of a question and a text as one input, with the type of each: what a cross-encoder reads. Never cut. */
  encodePair(a: Int32Array, b: Int32Array): { ids: Int32Array; types: Int32Array };
  /** Ids without the special tokens, never cut. */
  pieces(text: string): Int32Array;
  /** Number of special tokens in a pair (3 for BERT). */
  readonly pairSpecialTokens: number;
}

/**
 * The tokenizer of a model, from its own files. For BERT-like models it gives the very pieces that the library the model came with
 * gives; for others see createGeneralScan. The span of each is that in the original text: a piece that lost its case or an accent
 * still names the characters it came from, and a letter's marks belong to its span.
 *
 * Errors: `model_unavailable` when the folder holds no such tokenizer.
 */
export async function createTokenizer(options: TokenizerOptions): Promise<ModelTokenizer> {
  const file = await readTokenizerFile(options.folder);
  const maxTokens = options.maxTokens ?? trainedLength(options.folder);
  if (maxTokens === undefined) {
    throw new SluiceError('model_unavailable', `${options.folder} holds no config.json of a model: fetch the model again.`);
  }
  const scan = file.kind === 'wordpiece' ? createScanner(file) : await createGeneralScan(file);
  const specials = (parts: TemplatePart[]) => parts.reduce((sum, part) => sum + ('ids' in part ? part.ids.length : 0), 0);
  const specialTokens = specials(file.single);

  function pieces(text: string): Int32Array {
    const ids: number[] = [];
    scan(text, (found) => {
      for (const id of found.ids) ids.push(id);
    });
    return Int32Array.from(ids);
  }

  return {
    kind: file.kind,
    id: `${file.kind}-${TOKENIZER_VERSION}:${file.hash.slice(0, 16)}:${maxTokens}`,
    maxTokens,
    specialTokens,
    pairSpecialTokens: specials(file.pair),
    count(text) {
      let count = specialTokens;
      scan(text, (found) => {
        count += found.ids.length;
      });
      return count;
    },
    offsets(text) {
      const offsets: { start: number; end: number }[] = [];
      scan(text, (found, base) => {
        for (let index = 0; index < found.ids.length; index++) {
          offsets.push({ start: base + (found.starts[index] ?? 0), end: base + (found.ends[index] ?? 0) });
        }
      });
      return offsets;
    },
    pieces,
    encode(text, prefix = NO_PIECES) {
      const own = pieces(text);
      return fill(file.single, { A: prefix.length === 0 ? own : Int32Array.of(...prefix, ...own), B: NO_PIECES }).ids;
    },
    encodePair: (a, b) => fill(file.pair, { A: a, B: b }),
  };
}

function fill(parts: TemplatePart[], texts: Record<'A' | 'B', Int32Array>): { ids: Int32Array; types: Int32Array } {
  const ids: number[] = [];
  const types: number[] = [];
  for (const part of parts) {
    for (const id of 'ids' in part ? part.ids : texts[part.sequence]) {
      ids.push(id);
      types.push(part.typeId);
    }
  }
  return { ids: Int32Array.from(ids), types: Int32Array.from(types) };
}

function createScanner(file: WordPieceFile): Scan {
  const piecesOf = createTextCache(createWordPieces(file.words));

  function scanPlain(text: string, from: number, to: number, visit: (pieces: Pieces, base: number) => void): void {
    let begin = from;
    for (let at = from; at < to; at++) {
      const unit = text.charCodeAt(at);
      const ideograph = file.splitIdeographs && isIdeograph(unit);
      if (!ideograph && !isSpace(unit)) continue;
      if (at > begin) visit(piecesOf(text.slice(begin, at)), begin);
      if (ideograph) visit(piecesOf(text.charAt(at)), at);
      begin = at + 1;
    }
    if (to > begin) visit(piecesOf(text.slice(begin, to)), begin);
  }

  // Longer texts first, so that a token that begins with another is found whole.
  const contents = [...file.addedTokens.keys()].sort((a, b) => b.length - a.length);
  const added = contents.length === 0 ? undefined : new RegExp(contents.map(escapeRegExp).join('|'), 'g');

  return (text, visit) => {
    let from = 0;
    if (added !== undefined) {
      for (const match of text.matchAll(added)) {
        scanPlain(text, from, match.index, visit);
        visit(
          { ids: [file.addedTokens.get(match[0]) ?? file.words.unknownId], starts: [0], ends: [match[0].length] },
          match.index,
        );
        from = match.index + match[0].length;
      }
    }
    scanPlain(text, from, text.length, visit);
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** White space of JavaScript's `\s` that is neither a control nor a format character: those vanish and join what they part. */
function isSpace(unit: number): boolean {
  if (unit < 0xa0) return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d;
  if (unit < 0x1680) return unit === 0xa0;
  return (
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000
  );
}

/** The ideographs of the Basic Multilingual Plane. Those beyond are in no vocabulary of this family and are not set apart. */
function isIdeograph(unit: number): boolean {
  return unit >= 0x3400 && ((unit >= 0x4e00 && unit <= 0x9fff) || unit <= 0x4dbf || (unit >= 0xf900 && unit <= 0xfaff));
}

const configSchema = z.object({
  _name_or_path: z.string().optional(),
  model_type: z.string().optional(),
  max_position_embeddings: z.int().optional(),
});
const tokenizerConfigSchema = z.object({ model_max_length: z.number().optional() });
const sentenceSchema = z.object({ max_seq_length: z.int() });

/** What a model folder's files say it takes, special tokens included; undefined when it is no model's folder. */
function trainedLength(folder: string): number | undefined {
  const sentence = sentenceSchema.safeParse(readJsonNow(join(folder, 'sentence_bert_config.json')));
  if (sentence.success) return sentence.data.max_seq_length;
  const config = configSchema.safeParse(readJsonNow(join(folder, 'config.json')));
  if (!config.success) return undefined;
  const known = knownLength(config.data._name_or_path ?? '') ?? knownLength(folder);
  if (known !== undefined) return known;
  const told = tokenizerConfigSchema.safeParse(readJsonNow(join(folder, 'tokenizer_config.json')));
  const first = FIRST_POSITIONS.get(config.data.model_type ?? '') ?? 0;
  const positions = (config.data.max_position_embeddings ?? BERT_POSITIONS + first) - first;
  return Math.min(positions, (told.success ? told.data.model_max_length : undefined) ?? positions);
}

function knownLength(path: string): number | undefined {
  return TRAINED_LENGTHS.get(path.split(/[\\/]/).filter(Boolean).at(-1) ?? '');
}

/**
 * The largest count of word pieces that a model takes, special tokens included, without loading it: by its folder where that is there
 * already, else by its name. A model that is neither there nor known takes 512, as BERT does.
 */
export function modelTokens(name: string, folder: string | undefined): number {
  return (folder === undefined ? undefined : trainedLength(folder)) ?? knownLength(name) ?? BERT_POSITIONS;
}

function readJsonNow(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
