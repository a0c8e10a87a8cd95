import { type Caller, type LlmMessage, type LlmTokens, SluiceError } from '@sluice/core';
import { createAnswerText } from './answer-text.js';
import { checkCitations } from './cited.js';
import { buildContext, DEFAULT_CONTEXT_PASSAGES, DEFAULT_CONTEXT_TOKENS, type Excerpt, excerptOf, sourcesOf } from './context.js';
import type { Retrieval, RetrievalDeps } from './deps.js';
import type { createFinder } from './find.js';
import { answerMessages, createFence } from './prompt.js';
import type { About, Answer, AnswerQuery } from './types.js';

const NOT_FOUND = 'The documents do not answer this question.';
const NO_USAGE: LlmTokens = { prompt_tokens: 0, completion_tokens: 0 };

/** What the model is asked, and what its answer is checked against. */
interface Prepared {
  excerpts: Excerpt[];
  messages: LlmMessage[];
  about(): About;
}

/** Answers by a language model from what a search finds, and from nothing else. */
export function createAnswering(
  deps: RetrievalDeps,
  find: ReturnType<typeof createFinder>,
): Pick<Retrieval, 'answer' | 'streamAnswer'> {
  function requireLlm() {
    const { llm } = deps;
    if (llm !== undefined) return llm;
    throw new SluiceError('llm_not_configured', 'Answers need a language model: set llm.base_url and llm.model in sluice.yaml.');
  }

  async function prepare(request: AnswerQuery, caller: Caller, signal: AbortSignal | undefined): Promise<Prepared> {
    const limit = request.limit ?? DEFAULT_CONTEXT_PASSAGES;
    const { chosen, about } = await find({ ...request, limit }, caller, signal);
    const fence = createFence();
    const { context, excerpts } = buildContext(
      chosen.map(({ passage }) => excerptOf(passage)),
      {
        tokenizer: deps.tokenizer,
        maxTokens: request.max_tokens ?? DEFAULT_CONTEXT_TOKENS,
        order: request.order ?? 'score',
        render: fence.render,
      },
    );
    return { excerpts, messages: answerMessages(request.query, context, fence.name), about };
  }

  function finish({ excerpts, about }: Prepared, said: string | undefined, usage: LlmTokens): Answer {
    deps.metrics.llmTokens.inc({ kind: 'prompt' }, usage.prompt_tokens);
    deps.metrics.llmTokens.inc({ kind: 'completion' }, usage.completion_tokens);
    const sources = sourcesOf(excerpts);
    const { answer, citations } = checkCitations(said ?? '', excerpts);
    // What names no source that exists rests on no document: a model's own knowledge, or words that someone put into its mouth.
    if (citations.length === 0) return { answer: NOT_FOUND, citations, found: false, sources, usage, ...about() };
    return { answer, citations, found: true, sources, usage, ...about() };
  }

  return {
    async answer(request, caller, signal) {
      const llm = requireLlm();
      const prepared = await prepare(request, caller, signal);
      if (prepared.excerpts.length === 0) return finish(prepared, undefined, NO_USAGE);
      const stop = deps.metrics.stageSeconds.startTimer({ stage: 'answer' });
      const { text, usage } = await llm.complete({ messages: prepared.messages, temperature: 0 }, signal);
      stop();
      const shown = createAnswerText();
      return finish(prepared, shown.add(text) + shown.end(), usage);
    },

    async *streamAnswer(request, caller, signal) {
      const llm = requireLlm();
      const prepared = await prepare(request, caller, signal);
      yield { event: 'sources', data: { sources: sourcesOf(prepared.excerpts) } };
      const shown = createAnswerText();
      let said = '';
      let usage = NO_USAGE;
      if (prepared.excerpts.length > 0) {
        const stop = deps.metrics.stageSeconds.startTimer({ stage: 'answer' });
        for await (const part of llm.stream({ messages: prepared.messages, temperature: 0 }, signal)) {
          if ('usage' in part) usage = part.usage;
          const text = 'text' in part ? shown.add(part.text) : '';
          said += text;
          if (text !== '') yield { event: 'token', data: { text } };
        }
        stop();
        const rest = shown.end();
        said += rest;
        if (rest !== '') yield { event: 'token', data: { text: rest } };
      }
      yield { event: 'done', data: finish(prepared, said, usage) };
    },
  };
}
