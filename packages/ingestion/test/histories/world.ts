import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { type Cause, type ChunkStore, docUuid, makeDocId, topCommit } from '@sluice/core';
import { audit, type ReconcileOptions, verify } from '@sluice/ingestion';
import { createWordEmbedder } from '@sluice/testkit';
import { expect } from 'vitest';
import { createHarness, type Harness } from '../harness.js';
import { withBefore } from '../with-before.js';
import type { Command } from './commands.js';

interface Sleeper {
  wake(): void;
  /** Whether it ended well. */
  ended: Promise<boolean>;
}

export class World {
  private readonly late: { path: string; cause: Cause }[] = [];
  private readonly sleepers: Sleeper[] = [];
  private readonly everWritten = new Map<string, Set<string>>();
  private readonly known = new Set<string>();
  private armed: { at: string; skip: number; wakes: boolean } | undefined;
  private onParked: ((wake: (() => void) | undefined) => void) | undefined;
  private folder = 'dir';
  private rootLost = false;
  /** Documents whose newest state no attempt has ended on yet: their event is late or lost, or its attempt died or sleeps. */
  private readonly owed = new Set<string>();
  private readonly violations: string[] = [];

  private constructor(
    readonly h: Harness,
    /** The store without faults. */
    private readonly store: ChunkStore,
  ) {}

  static async create(store: ChunkStore): Promise<World> {
    const holder: { world?: World } = {};
    const before = async (point: string, docId?: string) => {
      await holder.world?.reach(point);
      if (docId !== undefined && (point === 'committed' || point === 'deleted')) await holder.world?.look(docId, point);
    };
    const h = await createHarness({
      store: withBefore(store, (call) => before(call)),
      embedder: createWordEmbedder(),
      onStep: before,
      settings: { maxLiveAttempts: 3, maxSuperseded: 6 },
    });
    const world = new World(h, store);
    holder.world = world;
    return world;
  }

  /** A point of the pipeline is reached: where the armed fault lies in wait, the attempt sleeps, some of them for good. */
  private async reach(point: string): Promise<void> {
    const { armed, onParked } = this;
    if (armed === undefined || onParked === undefined || armed.at !== point) return;
    if (armed.skip > 0) {
      armed.skip -= 1;
      return;
    }
    this.armed = undefined;
    await new Promise<void>((resolve) => onParked(armed.wakes ? resolve : undefined));
  }

  /** In the midst of an attempt: what is served of the document is whole. */
  private async look(docId: string, point: string): Promise<void> {
    const top = topCommit((await this.store.recordsOf([docUuid(docId)])).get(docUuid(docId)) ?? []);
    if (top === undefined || top.chunks === 0) return;
    const manifest = await this.store.readManifest(top).catch(() => undefined);
    const there = await this.store.existingChunks(manifest?.entries.map((entry) => entry.id) ?? []);
    if (there.size !== top.chunks) this.violations.push(`${docId} at ${point}: ${there.size} of ${top.chunks} chunks`);
  }

  /** Runs an attempt until it ends (true) or falls asleep. */
  private async attempt(work: () => Promise<unknown>): Promise<boolean> {
    const parked = new Promise<(() => void) | undefined>((resolve) => {
      this.onParked = resolve;
    });
    const ended = work().then(
      () => true,
      // It is tried again by the queue, here by a later event or the scan.
      () => false,
    );
    const first = await Promise.race([ended, parked.then((wake) => ({ wake }))]);
    this.onParked = undefined;
    if (typeof first === 'boolean') return first;
    // One that dies in its sleep has no end.
    if (first.wake !== undefined) this.sleepers.push({ wake: first.wake, ended });
    return false;
  }

  private async reconcile(target: string, cause: Cause, options: ReconcileOptions = {}): Promise<void> {
    this.known.add(target);
    this.owed.add(target);
    let suspended = false;
    const done = await this.attempt(async () => {
      suspended = (await this.h.reconcile(target, cause, options)).outcome === 'suspended';
    });
    if (done && !suspended) this.owed.delete(target);
  }

  private async announce(targets: readonly string[], cause: Cause, what: string): Promise<void> {
    for (const target of targets) {
      this.known.add(target);
      this.owed.add(target);
      if (what === 'late' || what === 'twice') this.late.push({ path: target, cause });
    }
    if (what === 'now' || what === 'twice') for (const target of targets) await this.reconcile(target, cause);
  }

  async run(step: Command): Promise<void> {
    switch (step.op) {
      case 'write': {
        const matter = step.level === 0 ? '' : `---\nsecurity_level: ${step.level}\n---\n\n`;
        await this.put(step.path, `${matter}${step.paragraphs.map((n) => `paragraph ${n}`).join('\n\n')}`);
        return this.announce([step.path], 'change', step.events);
      }
      case 'corrupt':
        await this.put(step.path, '!corrupt');
        return this.announce([step.path], 'change', step.events);
      case 'remove':
        this.disturb(step.path);
        await discard(join(this.h.root, step.path));
        return this.announce([step.path], 'unlink', step.events);
      case 'move':
        return this.move(step.path, step.to, step.events);
      case 'moveFolder': {
        const from = this.folder;
        this.folder = from === 'dir' ? 'other' : 'dir';
        const names = await readdir(join(this.h.root, from)).catch(() => []);
        if (names.length === 0) return;
        this.disturb(this.folder);
        await discard(join(this.h.root, this.folder));
        await rename(join(this.h.root, from), join(this.h.root, this.folder));
        const documents = names.filter((name) => !name.endsWith('.meta.yaml'));
        for (const name of documents) this.inherit(`${from}/${name}`, `${this.folder}/${name}`);
        return this.announce(
          documents.flatMap((name) => [`${this.folder}/${name}`, `${from}/${name}`]),
          'rename',
          step.events,
        );
      }
      case 'sidecar': {
        const file = join(this.h.root, `${step.path}.meta.yaml`);
        this.disturb(step.path);
        if (step.level === 0) await discard(file);
        else {
          await makeFolder(dirname(file), this.h.root);
          await writeFile(file, `security_level: ${step.level}\n`);
        }
        return this.announce([step.path], 'change', step.events);
      }
      case 'deliver': {
        const [event] = this.late.splice(step.pick % Math.max(1, this.late.length), 1);
        return event === undefined ? undefined : this.reconcile(event.path, event.cause);
      }
      case 'fault':
        this.armed = { at: step.at, skip: step.skip, wakes: step.wakes };
        return;
      case 'wake':
        return this.wake(step.pick);
      case 'sweep':
        if (step.graceOver) this.h.clock.advance(this.h.deps.settings.readerGraceMs + 1);
        return this.sweep(step.path);
      case 'audit':
        await this.attempt(() => this.audit());
        return;
      case 'race':
        return this.race(step);
      case 'flush':
        return this.h.fences.flush();
      case 'restart':
        return this.h.fences.restart();
      case 'root':
        this.rootLost = step.lost;
        return this.h.loseRoot(step.lost);
    }
  }

  private async wake(pick: number): Promise<void> {
    const [sleeper] = this.sleepers.splice(pick % Math.max(1, this.sleepers.length), 1);
    if (sleeper === undefined) return;
    // It may fall asleep, or die, once more.
    await this.attempt(async () => {
      sleeper.wake();
      await sleeper.ended;
    });
  }

  private async sweep(target: string): Promise<void> {
    await this.attempt(() => this.h.sweeper.sweep(docUuid(makeDocId('inbox', target))));
  }

  /** Two attempts on one document sleep at their points, the disk changes, and they go on in some order, a sweep among them. */
  private async race(step: Extract<Command, { op: 'race' }>): Promise<void> {
    const write = async (numbers: number[] | null) => {
      if (numbers !== null) await this.put(step.path, numbers.map((n) => `paragraph ${n}`).join('\n\n'));
    };
    await write(step.before);
    const asleep = new Map<string, Sleeper>();
    for (const name of ['first', 'second'] as const) {
      this.armed = { at: step[name].at, skip: 0, wakes: true };
      await this.reconcile(step.path, 'retry', { recommit: step[name].recommit });
      if (this.armed === undefined) {
        const sleeper = this.sleepers.pop();
        if (sleeper !== undefined) asleep.set(name, sleeper);
      }
      this.armed = undefined;
    }
    await write(step.after);
    for (const name of step.order) {
      if (name === 'sweep') {
        await this.sweep(step.path);
        this.h.clock.advance(this.h.deps.settings.readerGraceMs + 1);
        await this.sweep(step.path);
        continue;
      }
      asleep.get(name)?.wake();
      await asleep.get(name)?.ended;
    }
    // Both have looked at the disk again after their commits, so nothing is owed any more where none of them gave up.
    const ends = await Promise.all([...asleep.values()].map((sleeper) => sleeper.ended));
    const isSeen = asleep.size > 0 && ends.every((end) => end) && (step.after === null || asleep.size === 2);
    if (isSeen && !this.rootLost) this.owed.delete(step.path);
    else this.owed.add(step.path);
  }

  private async put(target: string, text: string): Promise<void> {
    await makeFolder(dirname(join(this.h.root, target)), this.h.root);
    const isFolder = (await stat(join(this.h.root, target)).catch(() => undefined))?.isDirectory() === true;
    if (isFolder) await rm(join(this.h.root, target), { recursive: true });
    await writeFile(join(this.h.root, target), text);
    this.written(target).add(JSON.stringify(paragraphsOf(text)));
    this.disturb(target);
  }

  /** What is at a path, below it, or a file where its folder is to be, may go without an event of its own. */
  private disturb(target: string): void {
    for (const other of [target, ...this.known])
      if (other === target || other.startsWith(`${target}/`) || target.startsWith(`${other}/`)) this.owed.add(other);
  }

  private async move(from: string, to: string, what: string): Promise<void> {
    const isFile = (await stat(join(this.h.root, from)).catch(() => undefined))?.isFile() === true;
    if (!isFile || to.startsWith(from) || from.startsWith(to)) return;
    this.disturb(from);
    this.disturb(to);
    await makeFolder(dirname(join(this.h.root, to)), this.h.root);
    if (!(await stat(join(this.h.root, from)).catch(() => undefined))) return;
    await discard(join(this.h.root, to));
    await rename(join(this.h.root, from), join(this.h.root, to));
    this.inherit(from, to);
    return this.announce([to, from], 'rename', what);
  }

  private written(target: string): Set<string> {
    const known = this.everWritten.get(target) ?? new Set<string>();
    this.everWritten.set(target, known);
    this.known.add(target);
    return known;
  }

  private inherit(from: string, to: string): void {
    for (const version of this.written(from)) this.written(to).add(version);
  }

  private audit() {
    return audit({
      ...this.h.deps,
      reconciler: this.h.reconciler,
      sweeper: this.h.sweeper,
      pending: async () => new Set<string>(),
      freeStuckKeys: async () => 0,
    });
  }

  /** What is served now is whole, and was on the disk at some time; where nothing is owed, it is what is on the disk now. */
  async checkServed(): Promise<void> {
    const { onParked, armed } = this;
    this.onParked = undefined;
    this.armed = undefined;
    expect(this.violations).toEqual([]);
    const files = await this.files();
    for (const target of this.known) {
      const top = await this.h.top(target);
      if (top !== undefined && top.chunks > 0) {
        const texts = await this.h.texts(target);
        expect(texts.length, `chunks of ${target}`).toBe(top.chunks);
        expect([...this.written(target)], `versions of ${target}`).toContain(JSON.stringify(texts));
      }
      if (!this.owed.has(target) && !this.rootLost) await this.checkDocument(target, files.includes(target));
    }
    this.onParked = onParked;
    this.armed = armed;
  }

  /** A last scan, every sleeper awake before or after it, and the sweeps. */
  async settle(wakeAfterScan: boolean): Promise<void> {
    this.armed = undefined;
    this.h.loseRoot(false);
    const wakeAll = async () => {
      while (this.sleepers.length > 0) await this.wake(0);
    };
    if (!wakeAfterScan) await wakeAll();
    for (const target of new Set([...this.known, ...(await this.files())])) await this.h.reconcile(target, 'scan');
    if (wakeAfterScan) await wakeAll();
    for (let round = 0; round < 4; round += 1) {
      await this.audit();
      for (const target of this.known) await this.h.sweep(target);
    }
  }

  private async checkDocument(target: string, isThere: boolean): Promise<void> {
    if (!isThere) {
      expect(await this.h.texts(target), `${target} is gone`).toEqual([]);
      return;
    }
    const text = await readFile(join(this.h.root, target), 'utf8');
    const top = await this.h.top(target);
    if (text.includes('!corrupt')) {
      expect(top?.status, target).toBe('failed');
      return;
    }
    const expected = paragraphsOf(text);
    expect(top?.status, target).toBe(expected.length === 0 ? 'empty' : 'indexed');
    expect(await this.h.texts(target), target).toEqual(expected);
    const sidecar = await readFile(join(this.h.root, `${target}.meta.yaml`), 'utf8').catch(() => '');
    const level = Math.max(...[text, sidecar].map((from) => Number(/security_level: (\d)/.exec(from)?.[1] ?? 1)));
    expect(top?.security_level, `level of ${target}`).toBe(level);
    for (const chunk of await this.h.chunks(target)) expect(chunk.metadata.security_level, target).toBe(level);
  }

  async checkDisk(): Promise<void> {
    const files = await this.files();
    for (const target of new Set([...this.known, ...files])) await this.checkDocument(target, files.includes(target));
    const view = this.h.deps.source('inbox');
    const report = await verify({
      ...this.h.deps,
      // After the last sweep: nothing may wait for its grace any more.
      settings: { ...this.h.deps.settings, readerGraceMs: -1e9 },
      sources: () => (view === undefined ? [] : [view]),
      listFiles: async function* () {
        yield* files;
      },
      pending: async () => new Set<string>(),
      repair: async () => {},
    });
    expect(report.examples).toEqual([]);
    expect(report).toMatchObject({ differences: 0, in_grace: 0, in_flight: 0 });
  }

  private async files(): Promise<string[]> {
    const entries = await readdir(this.h.root, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.meta.yaml'))
      .map((entry) => relative(this.h.root, join(entry.parentPath, entry.name)));
  }
}

/** Removes what is there, if anything is: with a file where its folder would be, nothing is (ENOTDIR). */
async function discard(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

/** Makes a folder; a file that is in its way goes. */
async function makeFolder(folder: string, root: string): Promise<void> {
  let at = root;
  for (const part of relative(root, folder)
    .split('/')
    .filter((name) => name !== '')) {
    at = join(at, part);
    const found = await stat(at).catch(() => undefined);
    if (found?.isFile()) await rm(at);
  }
  await mkdir(folder, { recursive: true });
}

function paragraphsOf(text: string): string[] {
  return text
    .replace(/^---\n[\s\S]*?\n---\n/, '')
    .split('\n\n')
    .filter((part) => part.trim() !== '')
    .map((part) => part.trim());
}
