import { setPriority } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InferenceSession } from 'onnxruntime-node';
import { feedsOf, openSession } from './session.js';
import type { ModelInput, RunMessage, ThreadMessage, ThreadSettings } from './thread-messages.js';

/**
 * Runs as a process of its own: one session of one thread, one text a run, so that a text's vector never depends on its neighbours.
 * A process, not a worker thread: the engine keeps state for the whole process, which is freed twice when threads come and go.
 */

/** As `nice` takes it. */
const BACKGROUND = 15;
/** Names that graphs give the states of the word pieces. */
const STATES = ['last_hidden_state', 'token_embeddings'];

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
  const output = results[STATES.find((name) => session.outputNames.includes(name)) ?? session.outputNames[0] ?? ''];
  if (output === undefined || !(output.data instanceof Float32Array)) throw new Error('the model gives no floats');
  if (settings.task !== 'embed') return output.data.slice();
  // Two dimensions: the graph pools by itself.
  return output.dims.length === 2 ? toUnit(output.data) : toUnit(pool(output.data, input.ids.length));
}

/** One vector of the word pieces' states. Every piece counts in the mean: a text runs alone, so there is no padding. */
function pool(states: Float32Array, length: number): ArrayLike<number> {
  const dimensions = states.length / length;
  if (settings.pooling === 'cls') return states.subarray(0, dimensions);
  if (settings.pooling === 'last') return states.subarray(states.length - dimensions);
  const sums = new Float64Array(dimensions);
  for (let piece = 0, at = 0; piece < length; piece++) {
    for (let d = 0; d < dimensions; d++, at++) sums[d] = (sums[d] ?? 0) + (states[at] ?? 0);
  }
  return sums;
}

/** Scaled to length 1. */
function toUnit(numbers: ArrayLike<number>): Float32Array {
  const vector = new Float32Array(numbers.length);
  let squares = 0;
  for (let d = 0; d < numbers.length; d++) squares += (numbers[d] ?? 0) ** 2;
  const norm = Math.sqrt(squares);
  if (!(norm > 0 && norm < Number.POSITIVE_INFINITY)) throw new Error('the model gives a vector without a direction');
  for (let d = 0; d < numbers.length; d++) vector[d] = (numbers[d] ?? 0) / norm;
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

if (settings.background === true) setPriority(BACKGROUND);
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
