import { basename, join } from 'node:path';
import { SluiceError } from '@sluice/core';
import { z } from 'zod';
import { readJson } from './read-json.js';

/** How a text's vector is made of the states of its word pieces: their mean, the first one, or the last one. */
export type Pooling = 'mean' | 'cls' | 'last';

/** What a model's files say of how it is used. */
export interface ModelProfile {
  pooling: Pooling;
  passagePrefix: string;
  queryPrefix: string;
}

const poolingSchema = z.object({
  pooling_mode_cls_token: z.boolean().default(false),
  pooling_mode_mean_tokens: z.boolean().default(false),
  pooling_mode_lasttoken: z.boolean().default(false),
});
const modulesSchema = z.array(z.object({ path: z.string(), type: z.string() }));
const promptsSchema = z.object({ prompts: z.record(z.string(), z.string().nullable()) });
const configSchema = z.object({ _name_or_path: z.string().optional() });

/** Modules of sentence-transformers that are done here; every other one would change the vectors. */
const MODULES = ['Transformer', 'Pooling', 'Normalize'];

/** Names of prompts, by use, as models of the hub have them. */
const PASSAGE_PROMPTS = ['passage', 'document', 'corpus'];
const QUERY_PROMPTS = ['query', 's2p_query'];

/**
 * How the model of a folder is used: by the files of sentence-transformers where they are there (`1_Pooling/config.json`,
 * `modules.json`, `config_sentence_transformers.json`), else mean pooling. Models of the E5 family carry no prompts but need them.
 *
 * Errors: `model_unavailable` for a kind of pooling, or a further layer, that is not supported.
 */
export async function readProfile(folder: string): Promise<ModelProfile> {
  const [pooling, prefixes] = await Promise.all([readPooling(folder), readPrefixes(folder), checkModules(folder)]);
  return { pooling, ...prefixes };
}

async function readPooling(folder: string): Promise<Pooling> {
  const path = join(folder, '1_Pooling', 'config.json');
  const modes = poolingSchema.safeParse(await readJson(path));
  if (!modes.success) return 'mean';
  const { pooling_mode_mean_tokens: mean, pooling_mode_cls_token: cls, pooling_mode_lasttoken: last } = modes.data;
  const chosen: Pooling[] = [
    ...(mean ? ['mean' as const] : []),
    ...(cls ? ['cls' as const] : []),
    ...(last ? ['last' as const] : []),
  ];
  const [only] = chosen;
  if (only === undefined || chosen.length > 1) {
    throw new SluiceError('model_unavailable', `${path} asks for a pooling that is not supported: mean, cls and last token are.`);
  }
  return only;
}

async function checkModules(folder: string): Promise<void> {
  const path = join(folder, 'modules.json');
  const modules = modulesSchema.safeParse(await readJson(path));
  const strange = modules.data?.find(({ type }) => !MODULES.includes(type.split('.').at(-1) ?? ''));
  if (strange === undefined) return;
  throw new SluiceError('model_unavailable', `${path} names a ${strange.type}, which is not supported: choose another model.`);
}

async function readPrefixes(folder: string): Promise<Pick<ModelProfile, 'passagePrefix' | 'queryPrefix'>> {
  const found = promptsSchema.safeParse(await readJson(join(folder, 'config_sentence_transformers.json')));
  if (found.success && Object.keys(found.data.prompts).length > 0) {
    const promptOf = (names: readonly string[]) => names.map((name) => found.data.prompts[name]).find((prompt) => prompt != null);
    return { passagePrefix: promptOf(PASSAGE_PROMPTS) ?? '', queryPrefix: promptOf(QUERY_PROMPTS) ?? '' };
  }
  const config = configSchema.safeParse(await readJson(join(folder, 'config.json')));
  const name = basename(config.data?._name_or_path ?? folder);
  // The model card of intfloat/e5-*: "Each input text should start with "query: " or "passage: "".
  const isE5 = /^(multilingual-)?e5-(small|base|large)(-v2)?$/.test(name);
  return isE5 ? { passagePrefix: 'passage: ', queryPrefix: 'query: ' } : { passagePrefix: '', queryPrefix: '' };
}
