import { closeSync, openSync, writeSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLineCollector, redisEntry } from './line-collector.js';
import { createRotatingLog } from './rotating-log.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-collect-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe('lines that a service writes', () => {
  it('are taken over once each, in order and whole, while the file stays small', async () => {
    const path = join(folder, 'server.log');
    const log = createRotatingLog(join(folder, 'redis.ndjson'));
    const collector = createLineCollector(path, log, (msg) => ({ msg }));
    // Nothing is there yet.
    await collector.collect();
    const writer = openSync(path, 'a');
    const expected: string[] = [];
    const filler = 'ä'.repeat(500);
    for (let number = 0; number < 2_000; number += 1) {
      expected.push(`${number} ${filler}`);
      // Cut anywhere: a line is told when its end is there.
      writeSync(writer, `${number} ${filler.slice(0, 100)}`);
      if (number % 50 === 0) await collector.collect();
      writeSync(writer, `${filler.slice(100)}\n`);
      expect((await stat(path)).size).toBeLessThan(1_000_000);
    }
    writeSync(writer, 'the last words');
    await collector.collect();
    await collector.collect({ last: true });
    closeSync(writer);
    log.close();
    const lines = (await readFile(join(folder, 'redis.ndjson'), 'utf8')).trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([...expected, 'the last words']);
    expect((await stat(path)).size).toBe(0);
  });

  it('go on after somebody has emptied the file, and long ones are cut', async () => {
    const path = join(folder, 'server.log');
    const told: string[] = [];
    const log = { write: (line: string) => void told.push((JSON.parse(line) as { msg: string }).msg), close: () => undefined };
    const collector = createLineCollector(path, log, (msg) => ({ msg }));
    await writeFile(path, 'one\ntwo\n');
    await collector.collect();
    await writeFile(path, 'three\n');
    await collector.collect();
    await writeFile(path, `${'x'.repeat(200_000)}\n`);
    await collector.collect();
    expect(told.map((line) => line.slice(0, 5))).toEqual(['one', 'two', 'three', 'xxxxx']);
    expect(told.at(-1)).toHaveLength(64_000);
  });
});

describe("a line of Redis'", () => {
  it.each([
    ['12:M 30 Nov 2026 16:00:00.123 * Ready to accept connections tcp', 30, 'Ready to accept connections tcp'],
    ['12:C 30 Nov 2026 16:00:00.123 # WARNING Memory overcommit', 40, 'WARNING Memory overcommit'],
    ['MISCONF something else', 30, 'MISCONF something else'],
  ])('%s', (line, level, msg) => {
    expect(redisEntry(line)).toEqual({ level, time: expect.stringMatching(/Z$/), role: 'redis', msg });
  });
});
