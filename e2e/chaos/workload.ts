import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { appendFile, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  createSecret,
  createTracked,
  nextVersion,
  noteWrite,
  type Secret,
  type Tracked,
  UNREADABLE,
  type Vanished,
} from './documents.js';
import type { ChangeWatch } from './observe.js';
import type { Random } from './random.js';

export interface WorkloadOptions {
  folder: string;
  random: Random;
  /** Called with each write of a document whose commit is to be waited for. */
  changes: ChangeWatch;
  /** Files of a burst. */
  burst: number;
  /** Pause between two operations, ms. */
  pauseMs: [number, number];
}

/** Documents that always exist, in which readers look for gaps, mixes and stale answers. */
const STEADY = 6;

/**
 * Operations on the watched folder, in an order that the seed decides. Only one is under way at a time, and `hold` keeps them off while
 * the folder itself is away.
 */
export function createWorkload({ folder, random, changes, burst, pauseMs }: WorkloadOptions) {
  const steady = Array.from({ length: STEADY }, (_, n) => createTracked(`s${n}`, `steady/s${n}.md`));
  const secrets = Array.from({ length: 4 }, (_, n) => createSecret(`k${n}`, `secret/k${n}.md`, n % 2 === 1));
  const metas = [0, 1].map((n) => createTracked(`m${n}`, `meta/m${n}.md`));
  const roaming = Array.from({ length: 6 }, (_, n) => createTracked(`r${n}`, ''));
  const folders = ['roam/f0', 'roam/f1'];
  const slow = createTracked('w0', 'slow/w0.md');
  const shape = createTracked('x0', 'shape/x0.md');
  const vanished: Vanished[] = [];
  const bursts: string[] = [];
  const floods: string[] = [];
  const counts = new Map<string, number>();
  let serial = 0;
  let stopped = false;
  let turn: Promise<void> = Promise.resolve();

  const at = (path: string) => join(folder, path);

  /** In one piece as far as the event loop goes: the file is never seen half by a watcher that waits for it to be still. */
  function write(path: string, text: string): void {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }

  /** As editors save. */
  function replace(path: string, text: string): void {
    const temporary = join(dirname(at(path)), `.${path.split('/').at(-1)}.tmp`);
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(temporary, text);
    renameSync(temporary, at(path));
  }

  function heap(name: string, files: number): void {
    for (let n = 0; n < files; n += 1) write(`${name}/f${n}.txt`, `Slip ${n} of heap ${serial} weighs ${n * 7 + serial} grams.`);
  }

  function put(document: Tracked, text: string, how: (path: string, text: string) => void = write): void {
    noteWrite(document, text);
    how(document.path, text);
    changes.watch(document);
  }

  /** To be called once nothing is at the path any more. */
  function leave(path: string): void {
    const one = { path, known: false, back: false };
    vanished.push(one);
    changes.watchEnd(one);
  }

  function comeTo(path: string): void {
    for (const one of vanished) if (one.path === path) one.back = true;
  }

  function setLevel(secret: Secret, level: 1 | 3, more: readonly string[] = []): void {
    secret.level = level;
    secret.epoch += 1;
    secret.hidden = false;
    secret.visible = false;
    if (secret.bySidecar) {
      secret.replacing = true;
      replace(`${secret.path}.meta.yaml`, `security_level: ${level}\n`);
      changes.watch(secret);
    } else put(secret, nextVersion(secret, [`security_level: ${level}`, ...more]), random.chance(0.5) ? write : replace);
  }

  const isSettled = (document: Tracked) => !document.replacing;

  /** Each yields false where there is nothing for it to do now. */
  const operations: Record<string, { weight: number; run: () => Promise<boolean> | boolean }> = {
    'edit by write': {
      weight: 8,
      run() {
        const document = random.pick(steady);
        put(document, nextVersion(document));
        return true;
      },
    },
    'edit by rename': {
      weight: 8,
      run() {
        const document = random.pick(steady);
        put(document, nextVersion(document), replace);
        return true;
      },
    },
    'corrupt version': {
      weight: 2,
      run() {
        const document = random.pick(steady);
        put(document, nextVersion(document, [UNREADABLE]), random.chance(0.5) ? write : replace);
        return true;
      },
    },
    'raise of a level': {
      weight: 4,
      run() {
        const open = secrets.filter((secret) => isSettled(secret) && secret.level === 1);
        if (open.length === 0) return false;
        setLevel(random.pick(open), 3);
        return true;
      },
    },
    'raise of a level with corrupt content': {
      weight: 2,
      run() {
        const open = secrets.filter((secret) => isSettled(secret) && secret.level === 1 && !secret.bySidecar);
        if (open.length === 0) return false;
        setLevel(random.pick(open), 3, [UNREADABLE]);
        return true;
      },
    },
    'lowering of a level': {
      weight: 5,
      run() {
        const raised = secrets.filter((secret) => isSettled(secret) && secret.level === 3 && secret.hidden);
        if (raised.length === 0) return false;
        setLevel(random.pick(raised), 1);
        return true;
      },
    },
    'metadata by sidecar': {
      weight: 3,
      run() {
        const document = random.pick(metas);
        serial += 1;
        write(`${document.path}.meta.yaml`, `category: c${serial}\n`);
        return true;
      },
    },
    'edit beside a sidecar': {
      weight: 2,
      run() {
        const document = random.pick(metas);
        put(document, nextVersion(document));
        return true;
      },
    },
    'file renamed': {
      weight: 3,
      async run() {
        const there = roaming.filter((document) => document.path !== '');
        if (there.length === 0) return false;
        const document = random.pick(there);
        serial += 1;
        const to = `${random.pick(folders)}/${document.name}-${serial}.md`;
        await mkdir(dirname(at(to)), { recursive: true });
        await rename(at(document.path), at(to));
        leave(document.path);
        document.path = to;
        return true;
      },
    },
    'folder renamed': {
      weight: 1,
      async run() {
        const n = random.int(0, folders.length - 1);
        const from = folders[n] ?? '';
        serial += 1;
        const to = `roam/f${n}-${serial}`;
        await mkdir(at(from), { recursive: true });
        await rename(at(from), at(to));
        folders[n] = to;
        for (const document of roaming) {
          if (!document.path.startsWith(`${from}/`)) continue;
          leave(document.path);
          document.path = `${to}${document.path.slice(from.length)}`;
        }
        return true;
      },
    },
    deleted: {
      weight: 2,
      async run() {
        const there = roaming.filter((document) => document.path !== '');
        if (there.length === 0) return false;
        const document = random.pick(there);
        await rm(at(document.path));
        leave(document.path);
        document.path = '';
        return true;
      },
    },
    added: {
      weight: 3,
      run() {
        const away = roaming.filter((document) => document.path === '');
        if (away.length === 0) return false;
        const document = random.pick(away);
        // The same paths again and again: what was deleted is taken up once more.
        document.path = `${random.pick(folders)}/${document.name}.md`;
        comeTo(document.path);
        write(document.path, nextVersion(document));
        return true;
      },
    },
    'file into folder and back': {
      weight: 1,
      async run() {
        const isFile = shape.path === 'shape/x0.md';
        await rm(at('shape/x0.md'), { recursive: true });
        shape.path = isFile ? 'shape/x0.md/inner.md' : 'shape/x0.md';
        write(shape.path, nextVersion(shape));
        return true;
      },
    },
    'slow writer': {
      weight: 1,
      async run() {
        const text = nextVersion(slow);
        const size = Math.ceil(text.length / 5);
        await mkdir(dirname(at(slow.path)), { recursive: true });
        await writeFile(at(slow.path), '');
        for (let from = 0; from < text.length; from += size) {
          await appendFile(at(slow.path), text.slice(from, from + size));
          await sleep(60);
        }
        return true;
      },
    },
    'many files at once': {
      weight: 0.4,
      run() {
        if (bursts.length > 1) return false;
        serial += 1;
        const name = `burst/b${serial}`;
        heap(name, burst);
        bursts.push(name);
        return true;
      },
    },
    'many files gone at once': {
      weight: 0.3,
      run() {
        const name = bursts.shift();
        if (name === undefined) return false;
        rmSync(at(name), { recursive: true });
        return true;
      },
    },
  };
  const names = Object.entries(operations).flatMap(([name, { weight }]) => Array<string>(Math.round(weight * 10)).fill(name));

  /** One at a time. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.then(
      () => {},
      () => {},
    );
    return done;
  }

  async function operate(): Promise<void> {
    // What has not come about yet comes soon: a short run has all of them.
    const missing = Object.keys(operations).filter((name) => !counts.has(name));
    const name = missing.length > 0 && random.chance(0.3) ? random.pick(missing) : random.pick(names);
    if (await operations[name]?.run()) counts.set(name, (counts.get(name) ?? 0) + 1);
  }

  async function run(): Promise<void> {
    while (!stopped) {
      await inTurn(operate);
      await sleep(random.int(...pauseMs));
    }
  }

  let running: Promise<void> | undefined;
  return {
    steady,
    secrets,
    metas,
    /** Where something was deleted or moved away. */
    vanished: vanished as readonly Vanished[],
    counts,
    kinds: Object.keys(operations),
    /** The first version of everything. */
    seed() {
      for (const document of [...steady, ...metas, slow, shape]) put(document, nextVersion(document));
      for (const secret of secrets) {
        if (secret.bySidecar) put(secret, nextVersion(secret));
        setLevel(secret, 1);
      }
      for (const document of roaming.slice(0, 4)) {
        document.path = `${random.pick(folders)}/${document.name}.md`;
        write(document.path, nextVersion(document));
      }
    },
    start() {
      running = run();
    },
    /** A heap of files far larger than a burst comes, or the one that came before goes. */
    flood: (files: number) =>
      inTurn(async () => {
        const old = floods.shift();
        if (old !== undefined) {
          rmSync(at(old), { recursive: true });
          return 'thousands of files gone';
        }
        serial += 1;
        const name = `burst/flood${serial}`;
        heap(name, files);
        floods.push(name);
        return `${files} files at once`;
      }),
    /** Runs something while no operation is under way. */
    hold: inTurn,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

export type Workload = ReturnType<typeof createWorkload>;
