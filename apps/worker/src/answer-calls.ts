import type { FactCache } from '@sluice/chunking';
import { type Embedder, type Llm, SluiceError } from '@sluice/core';
import type { FromProcess, Question, ToProcess } from './document-messages.js';
import { toWire } from './wire-error.js';

/** What the worker answers the calls of its parsing processes from. */
export interface CallTargets {
  embedder: Embedder;
  llm: Llm | undefined;
  facts: FactCache;
}

/** Answers one call; a fault is an answer too. */
export async function answerCall(
  targets: CallTargets,
  { call, question }: Extract<FromProcess, { type: 'ask' }>,
  signal: AbortSignal,
): Promise<ToProcess> {
  try {
    return { type: 'answer', call, answer: await answerOf(targets, question, signal) };
  } catch (thrown) {
    return { type: 'refusal', call, error: toWire(thrown, question.name === 'embed' ? 'embed_failed' : 'llm_failed') };
  }
}

async function answerOf({ embedder, llm, facts }: CallTargets, question: Question, signal: AbortSignal): Promise<unknown> {
  switch (question.name) {
    case 'embed':
      return embedder.embed(...question.given, signal);
    case 'complete':
      if (llm === undefined) throw new SluiceError('llm_not_configured', 'set llm.base_url and llm.model');
      return llm.complete(...question.given, signal);
    case 'knownFacts':
      return facts.get(...question.given);
    case 'keepFacts':
      return facts.set(...question.given);
  }
}
