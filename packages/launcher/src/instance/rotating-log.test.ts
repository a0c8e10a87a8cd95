import { openSync, writeSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRotatingLog, rotateInPlace } from './rotating-log.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-log-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('a rotating log', () => {
  it('keeps every file within the size and no more files than asked, the newest lines among them', async () => {
    const log = createRotatingLog(join(folder, 'deep', 'worker.ndjson'), { maxBytes: 100, keep: 2 });
    for (let index = 0; index < 50; index += 1) log.write(`{"line":${index}}`);
    log.close();
    const names = (await readdir(join(folder, 'deep'))).sort();
    expect(names).toEqual(['worker.ndjson', 'worker.ndjson.1', 'worker.ndjson.2']);
    let text = '';
    for (const name of names.reverse()) {
      expect((await stat(join(folder, 'deep', name))).size).toBeLessThanOrEqual(100);
      text += await readFile(join(folder, 'deep', name), 'utf8');
    }
    const numbers = text
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { line: number }).line);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 50 - numbers.length + index));
  });

  it('goes on in the file of an earlier start', async () => {
    const path = join(folder, 'api.ndjson');
    for (const line of ['first', 'second']) {
      const log = createRotatingLog(path);
      log.write(line);
      log.close();
    }
    expect(await readFile(path, 'utf8')).toBe('first\nsecond\n');
  });

  it('rotates a file that another process keeps writing', async () => {
    const path = join(folder, 'weaviate.ndjson');
    const writer = openSync(path, 'a');
    writeSync(writer, 'x'.repeat(60));
    await rotateInPlace(path, { maxBytes: 100, keep: 2 });
    expect(await readdir(folder)).toEqual(['weaviate.ndjson']);
    writeSync(writer, 'x'.repeat(60));
    await rotateInPlace(path, { maxBytes: 100, keep: 2 });
    writeSync(writer, 'after');
    expect(await readFile(path, 'utf8')).toBe('after');
    expect(await readFile(`${path}.1`, 'utf8')).toBe('x'.repeat(120));
  });
});
