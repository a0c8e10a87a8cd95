import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SluiceError } from '@sluice/core';
import { z } from 'zod';
import { readJson } from './read-json.js';

/** Where a model's graph may lie below its folder, best first: the quantized one is what the hub's own loading takes. */
const GRAPHS = ['onnx/model_quantized.onnx', 'onnx/model.onnx', 'model_quantized.onnx', 'model.onnx'];

const sizeSchema = z.int().positive().optional();
/** Families name the length of the hidden state in their own ways. */
const configSchema = z
  .object({
    hidden_size: sizeSchema,
    dim: sizeSchema,
    d_model: sizeSchema,
    n_embd: sizeSchema,
    architectures: z.array(z.string()).optional(),
  })
  .transform(({ hidden_size, dim, d_model, n_embd, architectures }) => ({
    size: hidden_size ?? dim ?? d_model ?? n_embd,
    architectures,
  }));

/** What a model folder holds. */
export interface ModelFiles {
  /** Owner and name, as `Xenova/all-MiniLM-L6-v2`: the last two parts of the folder. */
  name: string;
  /** The ONNX graph. */
  path: string;
  /** sha256 of the graph, in hex. */
  sha256: string;
  /** Length of the hidden state: the dimensions of an embedding model. */
  dimensions: number;
  architectures: string[];
}

/**
 * Finds a model's graph and hashes it.
 * Errors: `model_unavailable` naming what is missing.
 */
export async function modelFiles(folder: string): Promise<ModelFiles> {
  const path = await firstThatExists(GRAPHS.map((graph) => join(folder, graph)));
  if (path === undefined) {
    throw new SluiceError('model_unavailable', `No model in ${folder}: looked for ${GRAPHS.join(', ')}.`);
  }
  const config = configSchema.safeParse(await readJson(join(folder, 'config.json')));
  if (config.data?.size === undefined) {
    throw new SluiceError(
      'model_unavailable',
      `${join(folder, 'config.json')} is missing or names no hidden_size: fetch the model again.`,
    );
  }
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return {
    name: `${basename(dirname(folder))}/${basename(folder)}`,
    path,
    sha256: hash.digest('hex'),
    dimensions: config.data.size,
    architectures: config.data.architectures ?? [],
  };
}

async function firstThatExists(paths: string[]): Promise<string | undefined> {
  for (const path of paths) {
    try {
      await access(path);
      return path;
    } catch {
      // The next one may be there.
    }
  }
  return undefined;
}

/** Name and version of the engine that runs models: with another one a text may get another vector. */
export function engineVersion(): string {
  const { version } = z.object({ version: z.string() }).parse(createRequire(import.meta.url)('onnxruntime-node/package.json'));
  return `onnxruntime-node-${version}`;
}
