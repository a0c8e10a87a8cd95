import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import type { InferenceSession } from 'onnxruntime-node';
import { feedsOf, openSession } from './session.js';
import type { ModelInput, RunMessage, ThreadMessage, ThreadSettings } from './thread-messages.js';

/** Runs in a worker thread: one session of one thread, one text a run, so that a text's vector never depends on its neighbours. */

const port = parentPort;
if (port === null) throw new Error('model-thread runs as a worker thread');
const settings = workerData as ThreadSettings; // what our own pool passed

interface Open {
  message: RunMessage;
  outputs: Float32Array[];
}

const urgent: Open[] = [];
const bulk: Open[] = [];
let running = false;

function take(message: RunMessage): void {
  (message.urgent ? urgent : bulk).push({ message, outputs: [] });
}

function say(message: ThreadMessage, transfer: ArrayBuffer[] = []): void {
  port?.postMessage(message, transfer);
}

async function compute(session: InferenceSession, input: ModelInput): Promise<Float32Array> {
  const results = await session.run(feedsOf(session, input));
  const output = results[session.outputNames[0] ?? ''];
  if (output === undefined || !(output.data instanceof Float32Array)) throw new Error('the model gives no floats');
  return settings.task === 'embed' ? pool(output.data, input.ids.length) : output.data.slice();
}

/** Mean of the word pieces' states (every piece counts: a text runs alone, so there is no padding), scaled to length 1. */
function pool(states: Float32Array, length: number): Float32Array {
  const dimensions = states.length / length;
  const vector = new Float32Array(dimensions);
  const sums = new Float64Array(dimensions);
  for (let piece = 0, at = 0; piece < length; piece++) {
    for (let d = 0; d < dimensions; d++, at++) sums[d] = (sums[d] ?? 0) + (states[at] ?? 0);
  }
  let squares = 0;
  for (const sum of sums) squares += sum * sum;
  const norm = Math.sqrt(squares);
  if (!(norm > 0 && norm < Number.POSITIVE_INFINITY)) throw new Error('the model gives a vector without a direction');
  for (let d = 0; d < dimensions; d++) vector[d] = (sums[d] ?? 0) / norm;
  return vector;
}

async function work(session: InferenceSession): Promise<void> {
  running = true;
  for (;;) {
    // Running a model blocks the thread's event loop: what was posted meanwhile is fetched by hand, between two texts.
    for (let posted = receiveMessageOnPort(port as never); posted !== undefined; posted = receiveMessageOnPort(port as never)) {
      take(posted.message as RunMessage);
    }
    const queue = urgent.length > 0 ? urgent : bulk;
    const open = queue[0];
    if (open === undefined) break;
    const { slice, inputs } = open.message;
    try {
      const input = inputs[open.outputs.length];
      if (input !== undefined) open.outputs.push(await compute(session, input));
      if (open.outputs.length < inputs.length) continue;
      queue.shift();
      const buffers = open.outputs.map((output) => output.buffer as ArrayBuffer);
      say({ type: 'done', slice, outputs: open.outputs }, buffers);
    } catch (thrown) {
      queue.splice(queue.indexOf(open), 1);
      say({ type: 'failed', slice, message: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }
  running = false;
}

try {
  const session = await openSession(settings.modelPath);
  port.on('message', (message: RunMessage) => {
    take(message);
    if (!running) void work(session);
  });
  say({ type: 'ready' });
} catch (thrown) {
  say({ type: 'unusable', message: thrown instanceof Error ? thrown.message : String(thrown) });
  port.close();
}
