import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SluiceError, sha256 } from '@sluice/core';
import { z } from 'zod';
import type { WordPieceSettings } from './word-pieces.js';

const templatePart = z.union([
  z.object({ SpecialToken: z.object({ id: z.string(), type_id: z.int() }) }),
  z.object({ Sequence: z.object({ id: z.enum(['A', 'B']), type_id: z.int() }) }),
]);

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
  post_processor: z.object({
    type: z.literal('TemplateProcessing'),
    single: z.array(templatePart),
    pair: z.array(templatePart),
    special_tokens: z.record(z.string(), z.object({ ids: z.array(z.int()) })),
  }),
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

/** A tokenizer.json as this package uses it. */
export interface TokenizerFile {
  /** sha256 of the file. */
  hash: string;
  words: WordPieceSettings;
  /** Spaces are put around ideographs: each is a word. */
  splitIdeographs: boolean;
  /** Texts that stand for one id wherever they occur, as `[SEP]`. */
  addedTokens: ReadonlyMap<string, number>;
  single: TemplatePart[];
  pair: TemplatePart[];
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
 * Reads `tokenizer.json` of a BERT-like model.
 * Errors: `model_unavailable` when the file is missing or is no tokenizer of this family.
 */
export async function readTokenizerFile(folder: string): Promise<TokenizerFile> {
  const { path, text } = await readText(folder);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (cause) {
    throw new SluiceError('model_unavailable', `${path} is no JSON: fetch the model again.`, { cause });
  }
  const parsed = tokenizerSchema.safeParse(json);
  if (!parsed.success) {
    throw new SluiceError(
      'model_unavailable',
      `${path} is no word-piece tokenizer of the BERT family: choose another model. ${z.prettifyError(parsed.error)}`,
    );
  }
  const { model, normalizer, post_processor: template, added_tokens: added } = parsed.data;
  const vocabulary = new Map(Object.entries(model.vocab));
  const unknownId = vocabulary.get(model.unk_token);
  if (unknownId === undefined) throw new SluiceError('model_unavailable', `${path} has no id for ${model.unk_token}.`);

  const part = (from: z.infer<typeof templatePart>): TemplatePart => {
    if ('Sequence' in from) return { typeId: from.Sequence.type_id, sequence: from.Sequence.id };
    return { typeId: from.SpecialToken.type_id, ids: template.special_tokens[from.SpecialToken.id]?.ids ?? [] };
  };
  return {
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
    single: template.single.map(part),
    pair: template.pair.map(part),
  };
}
