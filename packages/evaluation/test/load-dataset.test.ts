import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDataset } from '../src/load-dataset.js';
import { resolveDocuments } from '../src/resolve-documents.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-evaluation-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
}

describe('loadDataset', () => {
  it('reads questions of our own form', async () => {
    await write({
      'q.jsonl': [
        '{"question":"When?","relevant":["a.md"],"kind":"date","filter":{"year":2020}}',
        '',
        '{"id":"x","question":"What?","relevant":[{"document":"b.md","quote":"two"},{"document":"c.md","grade":2}],"split":"tune"}',
        '{"question":"Nothing?","relevant":[]}',
      ].join('\r\n'),
    });
    expect(await loadDataset(join(folder, 'q.jsonl'))).toEqual({
      name: 'q',
      format: 'jsonl',
      questions: [
        { id: '1', text: 'When?', relevant: [{ document: 'a.md', grade: 1 }], kind: 'date', filter: { year: 2020 } },
        {
          id: 'x',
          text: 'What?',
          split: 'tune',
          relevant: [
            { document: 'b.md', grade: 1, quote: 'two' },
            { document: 'c.md', grade: 2 },
          ],
        },
        { id: '3', text: 'Nothing?', relevant: [] },
      ],
    });
  });

  it('finds the documents beside the questions', async () => {
    await write({ 'questions.jsonl': '{"question":"a","relevant":[]}', 'documents/a.md': 'a' });
    expect(await loadDataset(folder)).toMatchObject({ documents: { folder: join(folder, 'documents') } });
  });

  it.each([
    ['{"question":"a"}', /q\.jsonl:1 relevant/],
    ['{"question":"a","relevant":[],"weight":1}', /q\.jsonl:1 .*weight/],
    ['{"question":"a","relevant":[]}\n{', /q\.jsonl:2 is not JSON/],
    ['{"id":"1","question":"a","relevant":[]}\n{"id":"1","question":"b","relevant":[]}', /two questions with the id 1/],
    ['', /has no questions/],
  ])('reports what is wrong with %s', async (text, message) => {
    await write({ 'q.jsonl': text });
    await expect(loadDataset(join(folder, 'q.jsonl'))).rejects.toThrow(message);
  });

  it('reads a table, and joins rows of one question', async () => {
    await write({ 'q.csv': '\ufeffQuestion;File\r\nWhat?;b.md\r\n' });
    expect((await loadDataset(join(folder, 'q.csv'))).questions).toEqual([
      { id: '1', text: 'What?', relevant: [{ document: 'b.md', grade: 1 }] },
    ]);
    await write({ 'q.csv': 'Question,Expected file,kind\n"Who, when?",a.md,name\nWhat?,b.md; d.md,\n"Who, when?",c.md,\n' });
    expect((await loadDataset(join(folder, 'q.csv'))).questions).toEqual([
      {
        id: '1',
        text: 'Who, when?',
        kind: 'name',
        relevant: [
          { document: 'a.md', grade: 1 },
          { document: 'c.md', grade: 1 },
        ],
      },
      {
        id: '2',
        text: 'What?',
        relevant: [
          { document: 'b.md', grade: 1 },
          { document: 'd.md', grade: 1 },
        ],
      },
    ]);
    await write({ 'q.csv': 'a,b\n1,2\n' });
    await expect(loadDataset(join(folder, 'q.csv'))).rejects.toThrow(/needs the columns/);
  });

  it('reads BEIR, with its corpus as files', async () => {
    await write({
      'corpus.jsonl': '{"_id":"d/1","title":"T","text":"one"}\n{"_id":"2","text":"two"}',
      'queries.jsonl': '{"_id":"q1","text":"first"}\n{"_id":"q2","text":"not judged"}',
      'qrels/test.tsv': 'query-id\tcorpus-id\tscore\nq1\td/1\t2\nq1\t2\t0\n',
    });
    expect(await loadDataset(folder)).toMatchObject({
      format: 'beir',
      documents: {
        texts: [
          { name: 'd%2F1.txt', text: 'T\n\none\n' },
          { name: '2.txt', text: 'two\n' },
        ],
      },
      questions: [
        {
          id: 'q1',
          text: 'first',
          relevant: [
            { document: 'd%2F1.txt', grade: 2 },
            { document: '2.txt', grade: 0 },
          ],
        },
      ],
    });
  });

  it.each([
    '<top>\n<num> Number: 7\n<title> boundary\nlayers </title>\n<desc> Description:\nlong\n</top>\n',
    '<top>\n<num> Number: 7\n<title> Topic: boundary layers\n\n<desc> long\n</top>\n',
    '7\tboundary layers\n',
  ])('reads TREC topics %#', async (topics) => {
    await write({ 'topics.txt': topics, 'qrels.txt': '7 0 AP-1 1\n7 0 AP-2 0\n' });
    expect(await loadDataset(folder)).toMatchObject({
      format: 'trec',
      questions: [
        {
          id: '7',
          text: 'boundary layers',
          relevant: [
            { document: 'AP-1', grade: 1 },
            { document: 'AP-2', grade: 0 },
          ],
        },
      ],
    });
  });

  it('says what a data set is when there is none', async () => {
    await expect(loadDataset(folder)).rejects.toThrow(/expected questions\.jsonl/);
    await expect(loadDataset(join(folder, 'none'))).rejects.toThrow(/no data set/);
  });
});

describe('resolveDocuments', () => {
  const question = (document: string) => ({ id: '1', text: 'a', relevant: [{ document, grade: 1 }] });
  const docIds = ['notes/a.md', 'notes/old/b.md', 'docs/b.md', 'docs/report.pdf', 'docs/caf\u00e9.md'];

  it.each([
    ['notes/a.md', 'notes/a.md'],
    ['old/b.md', 'notes/old/b.md'],
    ['report', 'docs/report.pdf'],
    ['cafe\u0301.md', 'docs/caf\u00e9.md'],
    // A path within a source comes before file names, of which there are two.
    ['b.md', 'docs/b.md'],
    ['none.md', undefined],
  ])('takes %s for %s', (name, docId) => {
    expect(resolveDocuments([question(name)], docIds).get(name)).toBe(docId);
  });

  it('refuses a name that fits several', () => {
    expect(() => resolveDocuments([question('b')], docIds)).toThrow(/may be any of notes\/old\/b\.md, docs\/b\.md/);
  });
});
