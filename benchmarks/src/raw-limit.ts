import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { compiledUrl } from '@sluice/core';
import { createTokenizer, modelFiles } from '@sluice/models';

/** What a raw-limit process is sent: first the model and its inputs, then requests to run all of them once. */
export type RawMessage = { enginePath: string; modelPath: string; inputs: number[][] } | 'run';

/** Processes of the raw limit, one a core and at most so many. */
const MAX_PROCESSES = 2;

/** Relative difference of two raw limits above which the machine was not the same machine. */
const MAX_DRIFT = 0.15;

interface Engine {
  /** Whose engine it is. */
  name: string;
  path: string;
}

/** Texts a second at the raw limit, before and after what is compared with it. */
export interface Limits {
  before: number;
  after: number;
}

export interface RawLimit {
  engines: readonly Engine[];
  /** Texts a second of bare inference: single-threaded sessions in processes of their own, one text a run. Default: the product's engine. */
  measure(texts: readonly string[], engine?: Engine): Promise<number>;
}

/** The engine that the product runs, and the one that @xenova/transformers ships where that is another one. */
function findEngines(): Engine[] {
  const models = createRequire(createRequire(import.meta.url).resolve('@sluice/models'));
  const product = models.resolve('onnxruntime-node');
  const shipped = createRequire(models.resolve('@xenova/transformers')).resolve('onnxruntime-node');
  const engines = [{ name: 'product', path: product }];
  return shipped === product ? engines : [...engines, { name: '@xenova/transformers', path: shipped }];
}

export async function createRawLimit(modelFolder: string): Promise<RawLimit> {
  const engines = findEngines();
  const tokenizer = await createTokenizer({ folder: modelFolder });
  const { path: modelPath } = await modelFiles(modelFolder);
  const count = Math.min(MAX_PROCESSES, cpus().length);

  async function measure(texts: readonly string[], engine: Engine | undefined = engines[0]): Promise<number> {
    if (engine === undefined) throw new Error('no inference engine was found');
    const inputs = texts.map((text) => [...tokenizer.encode(text)]);
    const loops: ChildProcess[] = [];
    try {
      for (let n = 0; n < count; n++) {
        const loop = fork(fileURLToPath(compiledUrl(import.meta.url, './raw-process.js')), { execArgv: [] });
        loops.push(loop);
        const share = inputs.filter((_, index) => index % count === n);
        await tell(loop, { enginePath: engine.path, modelPath, inputs: share });
      }
      // The first round warms up; the better of the next two counts.
      let best = 0;
      for (let round = 0; round < 3; round++) {
        const began = performance.now();
        await Promise.all(loops.map((loop) => tell(loop, 'run')));
        if (round > 0) best = Math.max(best, (1000 * texts.length) / (performance.now() - began));
      }
      return best;
    } finally {
      for (const loop of loops) loop.kill();
    }
  }
  return { engines, measure };
}

/** Sends a message and waits for the answer; a process that ends instead is an error. */
async function tell(loop: ChildProcess, message: RawMessage): Promise<void> {
  const ended = new AbortController();
  const exit = once(loop, 'exit', { signal: ended.signal }).then(() => {
    throw new Error('a raw-limit process ended');
  });
  const answer = once(loop, 'message');
  loop.send(message);
  try {
    await Promise.race([answer, exit]);
  } finally {
    exit.catch(() => {});
    ended.abort();
  }
}

/** The share of the raw limit as "NN %", or why it is not given: two limits that differ much mean a machine that changed meanwhile. */
export function shareOf(rate: number, { before, after }: Limits): string {
  const drift = Math.abs(before - after) / Math.max(before, after);
  if (!(drift <= MAX_DRIFT)) return `no ratio: raw limits differ by ${Math.round(100 * drift)} %`;
  return `${Math.round((200 * rate) / (before + after))} %`;
}
