import { expect, it } from 'vitest';
import { expectLawful } from '../../test/laws.js';
import { parseAs } from '../../test/parse-file.js';

it('joins what is said to sentences, with the time at which they begin', async () => {
  const cue = (number: number, text: string) =>
    `${number}\n00:01:${String(number).padStart(2, '0')},500 --> 00:01:59,000\n${text}\n\n`;
  const long =
    'The kettle is filled with cold water and set upon the stove until it sings, which takes about as long as it takes to lay the table for two people, and then it is taken off the stove with a cloth around its handle, since it is hot by then';
  const source =
    cue(2, '<i>Fill the kettle,</i>') +
    cue(3, 'then wait.') +
    cue(3, 'then wait.') +
    cue(4, `${long}`) +
    cue(5, 'and it burns.') +
    cue(9, '{\\an8}- Done &amp; dusted.');
  const document = await parseAs('a.srt', source);
  expectLawful(document);
  expect(document.elements.map(({ text }) => text)).toEqual([
    `[00:01:02] Fill the kettle, then wait. ${long} and it burns.`,
    '[00:01:09] - Done & dusted.',
  ]);
});

it('knows WebVTT by its mark, with speakers and without notes', async () => {
  const source =
    'WEBVTT\n\nNOTE made by hand\n\nintro\n01:02.000 --> 01:04.000 align:start\n<v Ida>Hello <c.loud>there</c>.\n\nSTYLE\n::cue { color: red }\n';
  for (const name of ['a.vtt', 'a.txt', 'a']) expect((await parseAs(name, source)).text).toBe('[00:01:02] Ida: Hello there.');
});

it('is empty without any cue', async () => {
  expect(await parseAs('a.srt', 'Nothing here.\n')).toMatchObject({ text: '', elements: [] });
});
