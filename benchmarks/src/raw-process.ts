/** Runs as a process: the model in a bare loop, for the figure that everything else is compared with. */
import { pathToFileURL } from 'node:url';
import type { RawMessage } from './raw-limit.js';

interface Session {
  inputNames: readonly string[];
  run(feeds: Record<string, unknown>): Promise<unknown>;
}

/** What is used of onnxruntime-node, in whichever version is measured. */
interface Engine {
  InferenceSession: { create(path: string, options: Record<string, unknown>): Promise<Session> };
  Tensor: new (type: 'int64', data: BigInt64Array, shape: number[]) => unknown;
}

let run: (() => Promise<void>) | undefined;

async function prepare(message: Exclude<RawMessage, 'run'>): Promise<void> {
  // A module of unknown version: its shape is the one above since 1.0.
  const loaded = (await import(pathToFileURL(message.enginePath).href)) as { default: Engine };
  const { InferenceSession, Tensor } = loaded.default;
  const session = await InferenceSession.create(message.modelPath, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  });
  const feeds = message.inputs.map((ids) => {
    const tensor = (data: BigInt64Array) => new Tensor('int64', data, [1, ids.length]);
    const all: Record<string, unknown> = {
      input_ids: tensor(BigInt64Array.from(ids, BigInt)),
      attention_mask: tensor(new BigInt64Array(ids.length).fill(1n)),
      token_type_ids: tensor(new BigInt64Array(ids.length)),
    };
    return Object.fromEntries(session.inputNames.map((name) => [name, all[name]]));
  });
  run = async () => {
    for (const feed of feeds) await session.run(feed);
  };
}

process.on('message', (message: RawMessage) => {
  const work = message === 'run' ? run?.() : prepare(message);
  void work?.then(() => process.send?.('done'));
});
process.on('disconnect', () => process.exit());
