import onnx, { type InferenceSession, type Tensor } from 'onnxruntime-node';
import type { ModelInput } from './thread-messages.js';

/** A session of one thread. Two such reach more texts a second on two cores than one session of two threads. */
export function openSession(modelPath: string): Promise<InferenceSession> {
  return onnx.InferenceSession.create(modelPath, {
    intraOpNumThreads: 1,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
  });
}

/** The tensors of one text, a batch of one without padding. */
export function feedsOf(session: InferenceSession, input: ModelInput): Record<string, Tensor> {
  const length = input.ids.length;
  const shape = [1, length];
  const ids = new BigInt64Array(length);
  const types = new BigInt64Array(length);
  for (let index = 0; index < length; index++) {
    ids[index] = BigInt(input.ids[index] ?? 0);
    if (input.types !== undefined) types[index] = BigInt(input.types[index] ?? 0);
  }
  const feeds: Record<string, Tensor> = {
    input_ids: new onnx.Tensor('int64', ids, shape),
    attention_mask: new onnx.Tensor('int64', new BigInt64Array(length).fill(1n), shape),
  };
  if (session.inputNames.includes('position_ids')) {
    feeds.position_ids = new onnx.Tensor(
      'int64',
      BigInt64Array.from({ length }, (_, index) => BigInt(index)),
      shape,
    );
  }
  if (session.inputNames.includes('token_type_ids')) feeds.token_type_ids = new onnx.Tensor('int64', types, shape);
  return feeds;
}
