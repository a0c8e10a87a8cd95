import type { Pooling } from './model-profile.js';

/** What a thread makes of a run: a unit vector, or a cross-encoder's one logit. */
type ModelTask = 'embed' | 'score';

export interface ThreadSettings {
  modelPath: string;
  task: ModelTask;
  /** For embed. */
  pooling?: Pooling;
  /** Yields the processor to others. */
  background?: boolean;
}

/** One text as a model reads it. */
export interface ModelInput {
  ids: Int32Array;
  /** Type of each id, where they are not all 0 (pairs). */
  types?: Int32Array;
}

/** To the thread. Urgent slices are begun before others that wait, between two texts. */
export interface RunMessage {
  slice: number;
  inputs: ModelInput[];
  urgent: boolean;
}

/** From the thread. */
export type ThreadMessage =
  | { type: 'ready' }
  /** The model can't be loaded. */
  | { type: 'unusable'; message: string }
  /** One output an input, each with a buffer of its own. */
  | { type: 'done'; slice: number; outputs: Float32Array[] }
  | { type: 'failed'; slice: number; message: string };
