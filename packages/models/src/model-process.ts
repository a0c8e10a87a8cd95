import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InferenceSession } from 'onnxruntime-node';
import { feedsOf, openSession } from './session.js';
import type { ModelInput, RunMessage, ThreadMessage, ThreadSettings } from './thread-messages.js';

/**
 * Runs as a process of its own: one session of one thread, one text a run, so that a text's vector never depends on its neighbours.
 * A process, not a worker thread: the engine keeps state for the whole process, which is freed twice when threads come and go.
 */

const settings = JSON.parse(process.argv[2] ?? '{}') as ThreadSettings; // what our own pool passed

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

function say(message: ThreadMessage): void {
  process.send?.(message);
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
    // Running a model blocks the event loop: a turn between two texts lets in what was sent meanwhile.
    await nextTurn();
    const queue = urgent.length > 0 ? urgent : bulk;
    const open = queue[0];
    if (open === undefined) break;
    const { slice, inputs } = open.message;
    try {
      const input = inputs[open.outputs.length];
      if (input !== undefined) open.outputs.push(await compute(session, input));
      if (open.outputs.length < inputs.length) continue;
      queue.shift();
      say({ type: 'done', slice, outputs: open.outputs });
    } catch (thrown) {
      queue.splice(queue.indexOf(open), 1);
      say({ type: 'failed', slice, message: thrown instanceof Error ? thrown.message : String(thrown) });
    }
  }
  running = false;
}

// Without its parent there is nobody to answer to.
process.on('disconnect', () => process.exit(0));
try {
  const session = await openSession(settings.modelPath);
  process.on('message', (message: RunMessage) => {
    take(message);
    if (!running) void work(session);
  });
  say({ type: 'ready' });
} catch (thrown) {
  say({ type: 'unusable', message: thrown instanceof Error ? thrown.message : String(thrown) });
  process.disconnect?.();
}
