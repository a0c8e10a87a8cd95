import { parentPort, workerData } from 'node:worker_threads';
import { feedsOf, openSession } from './session.js';
import type { ModelInput } from './thread-messages.js';

/** Runs in a worker thread: the model in a bare loop, for the figure that everything else is measured against. */

const { modelPath, inputs } = workerData as { modelPath: string; inputs: ModelInput[] }; // what bench.ts passed
const session = await openSession(modelPath);
const feeds = inputs.map((input) => feedsOf(session, input));
parentPort?.on('message', () => {
  void (async () => {
    for (const feed of feeds) await session.run(feed);
    parentPort?.postMessage('done');
  })();
});
parentPort?.postMessage('ready');
