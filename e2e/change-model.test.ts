import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createSluice, type Sluice } from './support/sluice.js';

const OTHER = 'Xenova/e5-small-v2';
const DOCUMENTS = 40;

interface Models {
  live: { model: string };
  next?: { model: string; documents: number; done: number };
  previous?: { model: string };
  unused: string[];
}

const nameOf = (n: number) => `harbour-${String(n).padStart(2, '0')}.md`;
const textOf = (n: number, version: number) => `Harbour ${n} lies on the coast. Its lighthouse was painted in year ${version}.`;

/** Asks again and again, and compares each answer with what must be there whatever model answers. */
function startReader(sluice: Sluice, expected: Map<string, Set<string>>) {
  const seen = { polls: 0, gaps: [] as string[], mixes: [] as string[] };
  let stopping = false;
  const loop = (async () => {
    while (!stopping) {
      const before = new Map([...expected].map(([id, texts]) => [id, new Set(texts)]));
      const { results } = await sluice.search({ query: 'harbour lighthouse coast', limit: 100 });
      seen.polls += 1;
      for (const [id, texts] of before) {
        const found = results.filter((result) => result.doc_id === id);
        const allowed = new Set([...texts, ...(expected.get(id) ?? [])]);
        if (found.length === 0 && expected.has(id)) seen.gaps.push(id);
        if (found.length > 1 || found.some(({ text }) => !allowed.has(text))) seen.mixes.push(`${id}: ${found[0]?.text}`);
      }
    }
  })();
  return {
    seen,
    async stop() {
      stopping = true;
      await loop;
    },
  };
}

describe('another model in place of the live one', () => {
  let sluice: Sluice;
  /** The texts that each document may show at the moment. */
  const expected = new Map<string, Set<string>>();
  beforeAll(async () => {
    sluice = await createSluice();
    for (let n = 0; n < DOCUMENTS; n++) {
      await sluice.write(nameOf(n), textOf(n, 1));
      expected.set(`inbox/${nameOf(n)}`, new Set([textOf(n, 1)]));
    }
    await sluice.up();
    await sluice.settle();
  });
  afterAll(() => sluice.close());

  const models = async () => {
    const { readFile } = await import('node:fs/promises');
    const token = (await readFile(`${sluice.data}/secrets/operator-token`, 'utf8')).trim();
    const response = await fetch(`${sluice.url}/ops/api/models`, { headers: { authorization: `Bearer ${token}` } });
    return (await response.json()) as Models;
  };
  async function edit(n: number, version: number): Promise<void> {
    expected.get(`inbox/${nameOf(n)}`)?.add(textOf(n, version));
    await sluice.replace(nameOf(n), textOf(n, version));
  }
  async function killed(role: string): Promise<void> {
    const pid = await sluice.pidOf(role);
    process.kill(pid, 'SIGKILL');
    // Between the end and the restart there is no process of the role.
    const restarted = async () => (await sluice.status()).processes.some((one) => one.role === role && one.pid !== pid);
    await vi.waitUntil(restarted, { timeout: 60_000, interval: 100 });
  }

  it('is built beside it while documents change and processes are killed, and answers in one step', async () => {
    const reader = startReader(sluice, expected);
    expect(await sluice.cli('reindex', '--model', OTHER)).toMatchObject({ code: 0 });
    expect(await models()).toMatchObject({ live: { model: 'Xenova/all-MiniLM-L6-v2' }, next: { model: OTHER } });
    await edit(3, 2);
    await killed('worker');
    await sluice.write('harbour-new.md', textOf(100, 1));
    expected.delete(`inbox/${nameOf(5)}`);
    await sluice.remove(nameOf(5));
    await killed('watcher');
    await edit(4, 2);
    const ran = await sluice.cli('reindex', '--model', OTHER, '--wait');
    expect(ran, ran.stderr).toMatchObject({ code: 0 });
    expect(ran.stdout).toContain('answers from now on');
    await vi.waitUntil(async () => (await models()).live.model === OTHER, { timeout: 30_000, interval: 100 });
    await sluice.settle();
    await reader.stop();
    expect(reader.seen).toMatchObject({ gaps: [], mixes: [] });
    expect(reader.seen.polls).toBeGreaterThan(20);
    expect(await sluice.verify()).toMatchObject({ differences: 0 });
    const { results } = await sluice.search({ query: 'harbour 100 on the coast', mode: 'dense', limit: 1 });
    expect(results.map(({ doc_id }) => doc_id)).toEqual(['inbox/harbour-new.md']);
    expect(await models()).toMatchObject({ previous: { model: 'Xenova/all-MiniLM-L6-v2' }, unused: [] });
  });

  it('stays live after a restart, though sluice.yaml names the other', async () => {
    await sluice.down();
    await sluice.up();
    await edit(6, 2);
    await sluice.settle();
    expect(await models()).toMatchObject({ live: { model: OTHER } });
    expect((await sluice.find('harbour 6 year 2'))[0]).toBe(`inbox/${nameOf(6)}`);
    expect(await sluice.verify()).toMatchObject({ differences: 0 });
  });

  it('goes back in one step to the model before, which has followed the disk', async () => {
    const reader = startReader(sluice, expected);
    expect(await sluice.cli('reindex', '--rollback')).toMatchObject({ code: 0 });
    await vi.waitUntil(async () => (await models()).live.model !== OTHER, { timeout: 30_000, interval: 100 });
    await edit(7, 2);
    await sluice.settle();
    await reader.stop();
    expect(reader.seen).toMatchObject({ gaps: [], mixes: [] });
    expect(await sluice.verify()).toMatchObject({ differences: 0 });
    const { results } = await sluice.search({ query: 'harbour 6 lighthouse painted in year 2', limit: 100 });
    expect(results.find(({ doc_id }) => doc_id === `inbox/${nameOf(6)}`)?.text).toBe(textOf(6, 2));
  });

  it('refuses what makes no sense, and says what does', async () => {
    const abort = await sluice.cli('reindex', '--abort');
    expect(abort.code).not.toBe(0);
    expect(abort.stderr).toContain('No model is being built');
    const again = await sluice.cli('reindex', '--model', OTHER);
    expect(again.stderr).toContain('--rollback');
    expect((await sluice.cli('reindex', '--abort', '--rollback')).code).toBe(2);
  });
});
