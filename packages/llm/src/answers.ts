import { type LlmPart, SluiceError } from '@sluice/core';
import { z } from 'zod';

const usageSchema = z.object({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) });

const completionSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
  usage: usageSchema.nullish(),
});

const deltaSchema = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }).nullish() })).default([]),
  usage: usageSchema.nullish(),
  error: z.object({ message: z.string().default('') }).nullish(),
});

/** Text and token counts of a chat completion. */
export function readCompletion(answer: unknown) {
  const result = completionSchema.safeParse(answer);
  if (!result.success) throw new SluiceError('llm_failed', 'the language model answered something other than a chat completion');
  const { choices, usage } = result.data;
  return { text: choices[0]?.message.content ?? '', usage: usage ?? { prompt_tokens: 0, completion_tokens: 0 } };
}

/** What one event of a stream holds: text, the tokens of the call, or nothing. */
export function readDelta(data: string): LlmPart[] {
  const result = deltaSchema.safeParse(parse(data));
  if (!result.success) throw new SluiceError('llm_failed', 'the language model sent an event that is no chat completion');
  const { choices, usage, error } = result.data;
  if (error != null) throw new SluiceError('llm_failed', `the language model failed: ${error.message}`);
  const text = choices[0]?.delta?.content ?? '';
  return [...(text === '' ? [] : [{ text }]), ...(usage == null ? [] : [{ usage }])];
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
