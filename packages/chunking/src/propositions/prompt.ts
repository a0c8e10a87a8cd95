import { readFileSync } from 'node:fs';
import { type LlmMessage, SluiceError } from '@sluice/core';

const DEFAULT_PROMPT = `You rewrite a passage into atomic facts.
- Each fact is one short, complete sentence that says one thing and can be understood without the passage: names in place of pronouns, no "it", "this", "the above".
- Say only what the passage says. Keep names, numbers, units, dates and conditions exactly as they stand there. Add nothing.
- Together the facts cover everything the passage says. Write them in the passage's language.
Answer with a JSON array of strings and nothing else. A passage that states no facts gives [].`;

/** The instruction of a source: its \`prompt_file\`, else the default. Part of what facts are cached by. Error: \`invalid_configuration\`. */
export function readPrompt(file: string | undefined): string {
  if (file === undefined) return DEFAULT_PROMPT;
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new SluiceError('invalid_configuration', `chunking.prompt_file: ${file} can't be read`, {
      cause,
      details: { path: 'chunking.prompt_file' },
    });
  }
}

export function factMessages(prompt: string, headings: readonly string[], passage: string): LlmMessage[] {
  const where = headings.length === 0 ? '' : `Section: ${headings.join(' > ')}\n\n`;
  return [
    { role: 'system', content: prompt },
    { role: 'user', content: `${where}Passage:\n${passage}` },
  ];
}
