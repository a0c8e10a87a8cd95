import { expect, it } from 'vitest';
import { parseAs } from '../test/parse-file.js';

it('takes the first heading for the title where the document says nothing else', async () => {
  expect((await parseAs('a.md', 'Note.\n\n# **Kettle** care\n\ntext\n')).metadata).toEqual({ doc_title: 'Kettle care' });
  expect((await parseAs('a.html', '<title>Given</title><h1>Heading</h1>')).metadata).toEqual({ doc_title: 'Given' });
  expect((await parseAs('a.html', '<h1>Heading</h1><p>x</p>')).metadata).toEqual({ doc_title: 'Heading' });
  for (const text of ['## Second level\n\ntext\n', 'a\n\nb\n\nc\n\nd\n\n# Late\n'])
    expect((await parseAs('a.md', text)).metadata).toEqual({});
});

it('knows the language of a document, and of passages in another', async () => {
  const english =
    'The kettle stands on the stove and holds about two litres of water when it is full to the mark, which is more than most people need.';
  const german =
    'Der Kessel steht auf dem Herd und fasst etwa zwei Liter Wasser, wenn er bis zur Marke gefüllt ist, was mehr ist, als die meisten brauchen.';
  const japanese =
    '今日の午前中に会社で重要な会議が開かれ、下半期の計画について話し合いました。品質を上げながら費用を下げる必要があると部長が言いました。カタログも新しくします。皆さんの意見を聞かせてください。来週までにお願いします。よろしくお願いいたします。ありがとうございます。';
  const document = await parseAs('a.txt', `${english}\n\n${english}\n\n${german}\n\n${japanese}\n`);
  expect(document.lang).toBe('en');
  expect(document.elements.map((element) => element.lang)).toEqual([undefined, undefined, 'de', 'ja']);
  expect((await parseAs('a.txt', '12.5 17 | 22')).lang).toBeUndefined();
  expect((await parseAs('a.ts', `// ${english}\nexport const a = 1;\n`)).lang).toBeUndefined();
});
