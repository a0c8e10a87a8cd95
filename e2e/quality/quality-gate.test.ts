import { rm, writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSluice, type Sluice } from '../support/sluice.js';
import { QUESTIONS, writeLibrary } from './write-library.js';

const BASELINE = fileURLToPath(new URL('./baseline.json', import.meta.url));
const EXAMPLE = fileURLToPath(new URL('../../docs/examples/quality', import.meta.url));
/** Set to 1, the run of the defaults becomes the baseline and the committed report. */
const isWriting = process.env.SLUICE_WRITE_BASELINE === '1';

const configuration = (chunking: string) => `sources:
  - name: library
    path: FOLDER
    chunking: ${chunking}
    metadata: { security_level: 1 }
eval:
  gate: { "ndcg@10": 0.7, "recall@5": 0.75, "mrr@10": 0.7 }
  baseline: ${BASELINE}
`;

/** For a busy machine: on an idle one each step takes some seconds. */
const LIMIT_MS = 300_000;

let sluice: Sluice;
let paths: string[];

beforeAll(async () => {
  sluice = await createSluice({ config: configuration('{ strategy: auto }') });
  paths = await writeLibrary(sluice.folder);
  await sluice.up();
  await sluice.settle();
}, LIMIT_MS);
afterAll(() => sluice.close());

describe('the quality of search over a library of all formats', { timeout: LIMIT_MS }, () => {
  it('reads every document', async () => {
    const { documents } = await sluice.json<{ documents: { status: string }[] }>('documents');
    expect(documents.filter(({ status }) => status === 'indexed')).toHaveLength(paths.length);
    expect(new Set(paths.map(extname)).size).toBeGreaterThan(20);
  });

  it('is no worse than the baseline with the defaults', async () => {
    if (isWriting) {
      await sluice.cli('eval', QUESTIONS, '--write-baseline', BASELINE, '--out', EXAMPLE);
      // The baseline has its scores.
      await rm(`${EXAMPLE}/report.json`);
    }
    const ran = await sluice.cli('eval', QUESTIONS, '--gate');
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
  });

  it('fails the gate where keywords alone decide', async () => {
    const ran = await sluice.cli('eval', QUESTIONS, '--gate', '--alpha', '0');
    expect(ran.code, ran.stdout).toBe(1);
    expect(ran.stderr).toMatch(/gate: ndcg@10 is .* \(baseline, p /);
  });

  it('fails the gate with chunks of 40 word pieces', async () => {
    await sluice.down();
    await writeFile(
      `${sluice.base}/sluice.yaml`,
      configuration('{ strategy: auto, max_tokens: 40 }').replace('FOLDER', sluice.folder),
    );
    await sluice.up();
    await sluice.settle();
    const ran = await sluice.cli('eval', QUESTIONS, '--gate');
    expect(ran.code, ran.stdout).toBe(1);
    expect(ran.stderr).toMatch(/gate: recall@5 is .* \(baseline, p /);
  });
});
