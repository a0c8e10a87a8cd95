import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SluiceError, sha256 } from '@sluice/core';
import { z } from 'zod';
import { readJson } from './read-json.js';
import type { WordPieceSettings } from './word-pieces.js';

const templatePart = z.union([
  z.object({ SpecialToken: z.object({ id: z.string(), type_id: z.int() }) }),
  z.object({ Sequence: z.object({ id: z.enum(['A', 'B']), type_id: z.int() }) }),
]);

const templateSchema = z.object({
  type: z.literal('TemplateProcessing'),
  single: z.array(templatePart),
  pair: z.array(templatePart),
  special_tokens: z.record(z.string(), z.object({ ids: z.array(z.int()) })),
});
const tokenAndId = z.tuple([z.string(), z.int()]);
/** What older files have in place of a template. */
const bracketsSchema = z.object({ type: z.enum(['RobertaProcessing', 'BertProcessing']), cls: tokenAndId, sep: tokenAndId });

const generalSchema = z.looseObject({
  added_tokens: z.array(z.unknown()),
  pre_tokenizer: z.unknown(),
  post_processor: z.unknown(),
  model: z.looseObject({
    type: z.enum(['WordPiece', 'BPE', 'Unigram']).optional(),
    vocab: z.union([z.array(z.unknown()), z.looseObject({})]),
  }),
});

const tokenizerSchema = z.object({
  added_tokens: z.array(z.object({ id: z.int(), content: z.string().min(1) })).default([]),
  normalizer: z.object({
    type: z.literal('BertNormalizer'),
    clean_text: z.boolean(),
    handle_chinese_chars: z.boolean(),
    strip_accents: z.boolean().nullable(),
    lowercase: z.boolean(),
  }),
  pre_tokenizer: z.object({ type: z.literal('BertPreTokenizer') }),
  post_processor: templateSchema,
  model: z.object({
    type: z.literal('WordPiece').optional(),
    unk_token: z.string(),
    continuing_subword_prefix: z.string(),
    max_input_chars_per_word: z.int().default(100),
    vocab: z.record(z.string(), z.int()),
  }),
});

/** A place in a template: ids of a special token, or one of the two texts. */
export type TemplatePart = { typeId: number; ids: readonly number[] } | { typeId: number; sequence: 'A' | 'B' };

interface CommonFile {
  /** sha256 of the file. */
  hash: string;
  /** The special tokens around one text, and around two. */
  single: TemplatePart[];
  pair: TemplatePart[];
}

/** The tokenizer.json of a BERT-like model. */
export interface WordPieceFile extends CommonFile {
  kind: 'wordpiece';
  words: WordPieceSettings;
  /** Spaces are put around ideographs: each is a word. */
  splitIdeographs: boolean;
  /** Texts that stand for one id wherever they occur, as `[SEP]`. */
  addedTokens: ReadonlyMap<string, number>;
}

/** Any other tokenizer.json, for the library to run. */
export interface GeneralTokenizerFile extends CommonFile {
  kind: 'general';
  json: object;
  /** Content of tokenizer_config.json. */
  config: object;
  /** Pieces hold bytes, and the space before a word. */
  isByteLevel: boolean;
}

async function readText(folder: string): Promise<{ path: string; text: string }> {
  const path = join(folder, 'tokenizer.json');
  try {
    return { path, text: await readFile(path, 'utf8') };
  } catch (cause) {
    throw new SluiceError('model_unavailable', `The tokenizer ${path} can't be read: give a folder that holds the model.`, {
      cause,
    });
  }
}

/** Identity of a folder's tokenizer: the beginning of its file's sha256. */
export async function tokenizerHash(folder: string): Promise<string> {
  return sha256((await readText(folder)).text).slice(0, 16);
}

/**
 * Reads `tokenizer.json`.
 * Errors: `model_unavailable` when the file is missing or is no tokenizer of a known kind.
 */
export async function readTokenizerFile(folder: string): Promise<WordPieceFile | GeneralTokenizerFile> {
  const { path, text } = await readText(folder);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new SluiceError('model_unavailable', `${path} is no JSON: fetch the model again.`, { cause });
  }
  const parsed = tokenizerSchema.safeParse(json);
  if (!parsed.success) return readGeneral(folder, path, sha256(text), json);
  const { model, normalizer, post_processor: template, added_tokens: added } = parsed.data;
  const vocabulary = new Map(Object.entries(model.vocab));
  const unknownId = vocabulary.get(model.unk_token);
  if (unknownId === undefined) throw new SluiceError('model_unavailable', `${path} has no id for ${model.unk_token}.`);

  return {
    kind: 'wordpiece',
    hash: sha256(text),
    words: {
      vocabulary,
      unknownId,
      continuation: model.continuing_subword_prefix,
      maxWordLength: model.max_input_chars_per_word,
      cleanText: normalizer.clean_text,
      lowercase: normalizer.lowercase,
      // Unset means: as lower-casing does.
      stripAccents: normalizer.strip_accents ?? normalizer.lowercase,
    },
    splitIdeographs: normalizer.handle_chinese_chars,
    addedTokens: new Map(added.map((token) => [token.content, token.id])),
    ...partsOf(template),
  };
}

function partsOf(template: z.infer<typeof templateSchema>): Pick<CommonFile, 'single' | 'pair'> {
  const part = (from: z.infer<typeof templatePart>): TemplatePart => {
    if ('Sequence' in from) return { typeId: from.Sequence.type_id, sequence: from.Sequence.id };
    return { typeId: from.SpecialToken.type_id, ids: template.special_tokens[from.SpecialToken.id]?.ids ?? [] };
  };
  return { single: template.single.map(part), pair: template.pair.map(part) };
}

async function readGeneral(folder: string, path: string, hash: string, json: unknown): Promise<GeneralTokenizerFile> {
  const parsed = generalSchema.safeParse(json);
  if (!parsed.success) {
    throw new SluiceError(
      'model_unavailable',
      `${path} is no tokenizer of a known kind (WordPiece, BPE, Unigram): choose another model. ${z.prettifyError(parsed.error)}`,
    );
  }
  const config = z.looseObject({}).safeParse(await readJson(join(folder, 'tokenizer_config.json')));
  return {
    kind: 'general',
    hash,
    json: parsed.data,
    config: config.data ?? {},
    isByteLevel: membersOf(parsed.data.pre_tokenizer, 'pretokenizers').some(({ type }) => type === 'ByteLevel'),
    ...specialsOf(parsed.data.post_processor),
  };
}

/** The steps of a sequence, or the one step. */
function membersOf(step: unknown, members: string): { type?: unknown }[] {
  if (typeof step !== 'object' || step === null) return [];
  const list: unknown = Object.entries(step).find(([name]) => name === members)?.[1];
  return Array.isArray(list) ? list.flatMap((member) => membersOf(member, members)) : [step];
}

/** The special tokens that a post-processor puts around texts; none where there is no such step. */
function specialsOf(step: unknown): Pick<CommonFile, 'single' | 'pair'> {
  for (const member of membersOf(step, 'processors')) {
    const template = templateSchema.safeParse(member);
    if (template.success) return partsOf(template.data);
    const brackets = bracketsSchema.safeParse(member);
    if (!brackets.success) continue;
    const { type, cls, sep } = brackets.data;
    const second = type === 'BertProcessing' ? 1 : 0;
    const special = (id: number, typeId = 0): TemplatePart => ({ typeId, ids: [id] });
    const single: TemplatePart[] = [special(cls[1]), { typeId: 0, sequence: 'A' }, special(sep[1])];
    const between = type === 'RobertaProcessing' ? [special(sep[1])] : [];
    return { single, pair: [...single, ...between, { typeId: second, sequence: 'B' }, special(sep[1], second)] };
  }
  return {
    single: [{ typeId: 0, sequence: 'A' }],
    pair: [
      { typeId: 0, sequence: 'A' },
      { typeId: 0, sequence: 'B' },
    ],
  };
}
