import { type ChunkingSettings, hashOf, type Llm, sha256 } from '@sluice/core';
import { readPrompt } from './propositions/prompt.js';
import { chunkerVersion } from './strategies/registry.js';

/**
 * All that decides the chunks of a document, for the fingerprint: the settings, the strategy's version, and of propositions the words of
 * the prompt and the language model. Where the prompt lies and how many calls are made at a time decides nothing.
 *
 * @throws SluiceError `invalid_configuration` for an unknown strategy or a prompt file that can't be read
 */
export function chunkerIdentity(settings: ChunkingSettings, llm?: Pick<Llm, 'id'>): string {
  const version = chunkerVersion(settings.strategy);
  if (settings.strategy !== 'propositions') return `${version}:${hashOf(settings).slice(0, 16)}`;
  const { prompt_file: file, concurrency: _, ...rest } = settings;
  const prompt = readPrompt(typeof file === 'string' ? file : undefined);
  return `${version}:${hashOf(rest).slice(0, 16)}:${sha256(prompt).slice(0, 16)}:${llm?.id ?? ''}`;
}
