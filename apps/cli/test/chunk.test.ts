import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { testServices } from '@sluice/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './run.js';

interface ChunkLine {
  index: number;
  text: string;
  start: number;
  end: number;
  prefix: string;
  derived: boolean;
  heading_path: string[];
  tokens: number;
}

let folder: string;
const env = { SLUICE_MODEL: testServices().model };
const text = `# Kettle\n\nBoils water.\n\n## Care\n\n${'Wipe it with a soft cloth after use. '.repeat(60)}\n`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-chunk-'));
  await writeFile(join(folder, 'a.md'), text);
});
afterAll(() => rm(folder, { recursive: true }));

describe('sluice chunk', () => {
  it('prints chunks that keep the law of offsets', async () => {
    const ran = await run(['chunk', 'a.md', '--set', 'max_tokens=60', '--json'], { cwd: folder, env });
    expect(ran.code).toBe(0);
    const chunks = ran.json() as ChunkLine[];
    expect(chunks.length).toBeGreaterThan(5);
    for (const [at, chunk] of chunks.entries()) {
      expect(chunk.index).toBe(at);
      expect(chunk.text).toBe(chunk.prefix + text.slice(chunk.start, chunk.end));
      expect(chunk.tokens).toBeLessThanOrEqual(60);
    }
    expect(chunks.at(-1)?.heading_path).toEqual(['Kettle', 'Care']);
  });

  it.each([
    ['over the limit of the model', ['--set', 'max_tokens=257']],
    ['an unknown setting', ['--set', 'nope=1']],
    ['a setting of another type', ['--set', 'max_tokens=many']],
    ['two units', ['--set', 'max_tokens=100', '--set', 'max_chars=500']],
    ['propositions without a language model', ['--strategy', 'propositions']],
  ])('%s is exit 2', async (_name, args) => {
    const ran = await run(['chunk', 'a.md', ...args, '--json'], { cwd: folder, env });
    expect(ran.code).toBe(2);
    expect(ran.json()).toMatchObject({ error: { code: 'invalid_configuration' } });
  });

  it('a bad file is exit 1 with its reason', async () => {
    await writeFile(join(folder, 'bad.pdf'), '%PDF-1.7 garbage');
    const ran = await run(['chunk', 'bad.pdf', '--json'], { cwd: folder, env });
    expect(ran.code).toBe(1);
    expect(ran.json()).toMatchObject({ error: { code: 'corrupt' } });
  });
});
