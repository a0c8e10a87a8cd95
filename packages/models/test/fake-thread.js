import { parentPort, workerData } from 'node:worker_threads';

// Speaks the protocol of thread-messages.ts without a model. The id 666 kills it, 667 only while the counter says so, 668 makes a run fail.
const left = new Int32Array(workerData.left);
if (workerData.unusable) {
  parentPort.postMessage({ type: 'unusable', message: 'no such file' });
} else {
  parentPort.on('message', ({ slice, inputs }) => {
    const ids = inputs.flatMap((input) => [...input.ids]);
    if (ids.includes(666) || (ids.includes(667) && Atomics.sub(left, 0, 1) > 0)) process.exit(1);
    if (ids.includes(668)) parentPort.postMessage({ type: 'failed', slice, message: 'shape' });
    else parentPort.postMessage({ type: 'done', slice, outputs: inputs.map((input) => Float32Array.from(input.ids)) });
  });
  parentPort.postMessage({ type: 'ready' });
}
