import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Fields of the ONNX protobuf messages, written by hand: enough for one small graph. */
type Field = [number: number, value: number | string | Uint8Array];

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) + 128);
  }
}

function message(...fields: Field[]): Uint8Array {
  const parts = fields.map(([number, value]) => {
    if (typeof value === 'number') return Uint8Array.from([...varint(number * 8), ...varint(value)]);
    const bytes = typeof value === 'string' ? Buffer.from(value) : value;
    return Buffer.concat([Uint8Array.from([...varint(number * 8 + 2), ...varint(bytes.length)]), bytes]);
  });
  return Buffer.concat(parts);
}

const INT64 = 7;
const FLOAT = 1;
const node = (type: string, inputs: string[], output: string, ...attributes: Field[]) =>
  message(...inputs.map((input): Field => [1, input]), [2, output], [4, type], ...attributes);
const value = (name: string, type: number, dimensions: (string | number)[]) =>
  message(
    [1, name],
    [
      2,
      message([
        1,
        message(
          [1, type],
          [2, message(...dimensions.map((size): Field => [1, message([typeof size === 'string' ? 2 : 1, size])]))],
        ),
      ]),
    ],
  );
const float = (name: string, number: number) =>
  message([2, FLOAT], [8, name], [9, new Uint8Array(Float32Array.of(number).buffer)]);
const int = (name: string, number: number) =>
  message([2, INT64], [8, name], [9, new Uint8Array(BigInt64Array.of(BigInt(number)).buffer)]);

/**
 * A cross-encoder that a test can do by hand: its logit is (number of pieces `token` in the text, type 1) * 4 - 2. Runs on the real
 * engine. The tokenizer is that of `tokenizerFolder`.
 */
export async function writeTinyCrossEncoder(folder: string, tokenizerFolder: string, token: number): Promise<void> {
  const graph = message(
    [1, node('Equal', ['input_ids', 'token'], 'same')],
    [1, node('Cast', ['same'], 'hits', [5, message([1, 'to'], [3, FLOAT], [20, 2])])],
    [1, node('Cast', ['token_type_ids'], 'text', [5, message([1, 'to'], [3, FLOAT], [20, 2])])],
    [1, node('Mul', ['hits', 'text'], 'counted')],
    [1, node('ReduceSum', ['counted'], 'sum', [5, message([1, 'axes'], [8, 1], [20, 7])])],
    [1, node('Mul', ['sum', 'four'], 'scaled')],
    [1, node('Add', ['scaled', 'border'], 'logits')],
    [2, 'tiny'],
    [5, int('token', token)],
    [5, float('four', 4)],
    [5, float('border', -2)],
    ...['input_ids', 'attention_mask', 'token_type_ids'].map((name): Field => [11, value(name, INT64, ['batch', 'length'])]),
    [12, value('logits', FLOAT, ['batch', 1])],
  );
  await mkdir(join(folder, 'onnx'), { recursive: true });
  await writeFile(join(folder, 'onnx', 'model_quantized.onnx'), message([1, 6], [7, graph], [8, message([1, ''], [2, 11])]));
  await writeFile(
    join(folder, 'config.json'),
    JSON.stringify({ architectures: ['BertForSequenceClassification'], hidden_size: 8, max_position_embeddings: 64 }),
  );
  await copyFile(join(tokenizerFolder, 'tokenizer.json'), join(folder, 'tokenizer.json'));
}

/** A number of -1..1 that is fixed for an id and a dimension. */
export function tinyWeight(id: number, dimension: number): number {
  return Math.sin((id + 1) * (dimension + 1) * 12.9898);
}

/** An encoder that a test can do by hand: the state of each piece is a row of a table, whatever is around it. */
export async function writeTinyEncoder(folder: string, vocabulary: number, dimensions = 8): Promise<void> {
  const table = Float32Array.from({ length: vocabulary * dimensions }, (_, at) =>
    tinyWeight(Math.floor(at / dimensions), at % dimensions),
  );
  const graph = message(
    [1, node('Gather', ['table', 'input_ids'], 'last_hidden_state')],
    [2, 'tiny'],
    [5, message([1, vocabulary], [1, dimensions], [2, FLOAT], [8, 'table'], [9, new Uint8Array(table.buffer)])],
    ...['input_ids', 'attention_mask'].map((name): Field => [11, value(name, INT64, ['batch', 'length'])]),
    [12, value('last_hidden_state', FLOAT, ['batch', 'length', dimensions])],
  );
  await mkdir(join(folder, 'onnx'), { recursive: true });
  await writeFile(join(folder, 'onnx', 'model.onnx'), message([1, 6], [7, graph], [8, message([1, ''], [2, 11])]));
}
