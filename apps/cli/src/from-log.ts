import { resolve } from 'node:path';
import { dataOf } from '@sluice/client';
import { questionsOfFeedback } from '@sluice/evaluation';
import type { Context } from './context.js';
import { EXIT, type ExitCode } from './exit.js';
import { given } from './given.js';
import { writeNewLines } from './new-file.js';
import { allPages, PAGE_LIMIT } from './pages.js';

/** Writes a data set made of feedback on searches: the work of `sluice eval --from-log`. An existing file stays as it is. */
export async function questionsFromLog(context: Context, path: string): Promise<ExitCode> {
  const { output, cwd } = context;
  const api = await context.api();
  const feedback = await allPages(async (cursor) => {
    const page = dataOf(await api.GET('/ops/api/feedback', { params: { query: { limit: PAGE_LIMIT, ...given({ cursor }) } } }));
    return { items: page.feedback, ...given({ next_cursor: page.next_cursor }) };
  });
  const questions = questionsOfFeedback(feedback);
  const file = resolve(cwd, path);
  await writeNewLines(file, questions);
  output.value({ file, feedback: feedback.length, questions: questions.length });
  output.line(`${questions.length} questions written to ${file}, of ${feedback.length} words of feedback.`);
  return EXIT.done;
}
