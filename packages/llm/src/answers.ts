import { SluiceError } from '@sluice/core';
import { z } from 'zod';

const usageSchema = z.object({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) });

const completionSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })).min(1),
  usage: usageSchema.nullish(),
});

const deltaSchema = z.object({
  choices: z.array(z.object({ delta: z.object({ content: z.string().nullish() }).nullish() })).default([]),
  error: z.object({ message: z.string().default('') }).nullish(),
});

/** Text and token counts of a chat completion. */
export function readCompletion(answer: unknown) {
  const result = completionSchema.safeParse(answer);
  if (!result.success) throw new SluiceError('llm_failed', 'the language model answered something other than a chat completion');
  const { choices, usage } = result.data;
  return { text: choices[0]?.message.content ?? '', usage: usage ?? { prompt_tokens: 0, completion_tokens: 0 } };
}

/** The text of one event of a stream; '' for events without any. */
export function readDelta(data: string): string {
  const result = deltaSchema.safeParse(parse(data));
  if (!result.success) throw new SluiceError('llm_failed', 'the language model sent an event that is no chat completion');
  if (result.data.error != null) throw new SluiceError('llm_failed', `the language model failed: ${result.data.error.message}`);
  return result.data.choices[0]?.delta?.content ?? '';
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch {
    return undefined;
  }
}
