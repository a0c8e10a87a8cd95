import { type ChunkingSettings, type Llm, sha256 } from '@sluice/core';
import { readPrompt } from './propositions/prompt.js';
import { chunkerVersion } from './strategies/registry.js';

/**
 * What besides the settings decides the chunks, for the fingerprint: the strategy's version, and of propositions the words of the
 * prompt and the language model.
 *
 * @throws SluiceError `invalid_configuration` for an unknown strategy or a prompt file that can't be read
 */
export function chunkerIdentity(settings: ChunkingSettings, llm?: Pick<Llm, 'id'>): string {
  const version = chunkerVersion(settings.strategy);
  if (settings.strategy !== 'propositions') return version;
  const prompt = readPrompt(typeof settings.prompt_file === 'string' ? settings.prompt_file : undefined);
  return `${version}:${sha256(prompt).slice(0, 16)}:${llm?.id ?? ''}`;
}
