import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { compiledUrl } from '@sluice/core';
import { createEmbedder } from './embedder.js';
import { modelFiles } from './model-files.js';

export interface EmbeddingRates {
  /** Texts a second of a bare session.run loop in as many processes of one thread each, one text a run: the raw limit. */
  raw: number;
  /** Texts a second through createEmbedder, one call. */
  embedder: number;
}

/**
 * Measures what the embedder reaches of the raw limit of its own engine, in turns so that both see the same machine; the best
 * round of each counts.
 */
export async function measureEmbedding(options: {
  folder: string;
  threads: number;
  texts: readonly string[];
  /** Rounds of each; default 3. */
  rounds?: number;
}): Promise<EmbeddingRates> {
  const { folder, threads, texts, rounds = 3 } = options;
  const embedder = await createEmbedder({ folder, threads });
  const { path } = await modelFiles(folder);
  const inputs = texts.map((text) => ({ ids: embedder.tokenizer.encode(text) }));
  const loops = Array.from({ length: threads }, (_, thread) => {
    const share = inputs.filter((__, index) => index % threads === thread);
    const loop = fork(fileURLToPath(compiledUrl(import.meta.url, './raw-process.js')), {
      serialization: 'advanced',
      execArgv: [],
    });
    loop.send({ modelPath: path, inputs: share });
    return loop;
  });
  try {
    await Promise.all(loops.map((loop) => once(loop, 'message')));
    const rates: EmbeddingRates = { raw: 0, embedder: 0 };
    for (let round = 0; round < rounds; round++) {
      const raw = await secondsOf(async () => {
        const done = loops.map((loop) => once(loop, 'message'));
        for (const loop of loops) loop.send('run');
        await Promise.all(done);
      });
      const product = await secondsOf(() => embedder.embed(texts));
      rates.raw = Math.max(rates.raw, texts.length / raw);
      rates.embedder = Math.max(rates.embedder, texts.length / product);
    }
    return rates;
  } finally {
    for (const loop of loops) loop.kill();
    await embedder.close();
  }
}

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
