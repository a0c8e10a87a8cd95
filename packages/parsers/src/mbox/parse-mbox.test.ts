import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

const mail = (subject: string, ...lines: string[]) =>
  [`From ida@example.test Tue Mar  5 10:00:00 2024`, 'From: ida@example.test', `Subject: ${subject}`, '', ...lines, ''].join(
    '\n',
  );

it.each(['a.mbox', 'Inbox', 'a.txt'])('reads the mails of %s one after the other', async (name) => {
  const box = [mail('One', 'First text.', 'From here on it is clear.', '', '>From now on.'), mail('Two', 'Second text.')].join(
    '\n',
  );
  const document = await parseAs(name, box);
  expectLawful(document);
  expect(document.format).toBe('mbox');
  expect(document.elements.filter(({ kind }) => kind === 'heading').map(({ text }) => text)).toEqual(['One', 'Two']);
  for (const text of ['First text.', 'From here on it is clear.', 'Second text.']) expect(document.text).toContain(text);
  expect(document.text).toContain('\n\nFrom now on.');
});
