import { type Reranker, SluiceError } from '@sluice/core';
import type { Logger } from '@sluice/telemetry';
import { startModelThreads } from './embedder.js';
import { engineVersion, modelFiles } from './model-files.js';
import type { ModelInput } from './thread-messages.js';
import { createTokenizer } from './tokenizer.js';

/** The share of the model's length that a query may fill; what is over is left out, so that the text keeps room. */
const QUERY_SHARE = 0.5;
/** Word pieces that windows of a long text have in common, so that no sentence is cut in all of them. */
const OVERLAP = 32;

export interface RerankerOptions {
  /** The model's folder, as `.../Xenova/ms-marco-MiniLM-L-6-v2`: a BertForSequenceClassification with one logit. */
  folder: string;
  threads: number | 'auto';
  /** Default: what the model was trained on. */
  maxTokens?: number;
  logger?: Logger;
}

export interface LocalReranker extends Reranker {
  close(): Promise<void>;
}

/**
 * A cross-encoder: reads query and text together and scores how well the text answers. The score is the logit's logistic function,
 * so 0.5 is the model's own border. A text over the model's length is read in overlapping windows, of which the best counts: nothing
 * of it is cut. Errors: `model_unavailable`, `embed_failed`, the signal's reason.
 */
export async function createReranker(options: RerankerOptions): Promise<LocalReranker> {
  const [files, tokenizer] = await Promise.all([modelFiles(options.folder), createTokenizer(options)]);
  if (files.architectures.length > 0 && !files.architectures.some((name) => name.endsWith('ForSequenceClassification'))) {
    throw new SluiceError(
      'model_unavailable',
      `${options.folder} holds a ${files.architectures.join()}, which scores no pairs: choose a cross-encoder.`,
    );
  }
  const pool = await startModelThreads({ task: 'score', modelPath: files.path }, options);
  const room = tokenizer.maxTokens - tokenizer.pairSpecialTokens;

  return {
    id: `${files.name}@${files.sha256}:${engineVersion()}`,
    async rerank(query, texts, signal) {
      const asked = tokenizer.pieces(query).subarray(0, Math.floor(room * QUERY_SHARE));
      const inputs: ModelInput[] = [];
      /** For each input the text it is a window of. */
      const owners: number[] = [];
      for (const [owner, text] of texts.entries()) {
        for (const window of windowsOf(tokenizer.pieces(text), room - asked.length)) {
          inputs.push(tokenizer.encodePair(asked, window));
          owners.push(owner);
        }
      }
      const outputs = await pool.run(inputs, { urgent: true, ...(signal === undefined ? {} : { signal }) });
      const scores = new Array<number>(texts.length).fill(0);
      for (const [index, output] of outputs.entries()) {
        const owner = owners[index] ?? 0;
        scores[owner] = Math.max(scores[owner] ?? 0, logistic(logitOf(output)));
      }
      return scores;
    },
    close: pool.close,
  };
}

/** The whole text, or overlapping windows of `size` pieces that cover it. */
function windowsOf(pieces: Int32Array, size: number): Int32Array[] {
  if (pieces.length <= size) return [pieces];
  const windows: Int32Array[] = [];
  const step = Math.max(1, size - Math.min(OVERLAP, size >> 1));
  for (let start = 0; start + size - step < pieces.length; start += step) windows.push(pieces.subarray(start, start + size));
  return windows;
}

/** One output is the logit itself; of two, the second is that of "relevant". */
function logitOf(output: Float32Array): number {
  return output.length > 1 ? (output[1] ?? 0) - (output[0] ?? 0) : (output[0] ?? 0);
}

function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}
