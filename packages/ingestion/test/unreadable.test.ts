import { SluiceError } from '@sluice/core';
import { createNodeFiles } from '@sluice/sources';
import { describe, expect, it } from 'vitest';
import { useArmedHarnesses } from './harness.js';

const harness = useArmedHarnesses();

it('a document that became unreadable, with the same size as before, is a dead letter at once and says so', async () => {
  const closed = createNodeFiles();
  const denied = () => Promise.reject(Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }));
  const h = await harness();
  await h.write('a.txt', 'old');
  await h.reconcile('a.txt');
  await h.write('a.txt', 'NEW');
  h.deps.files = { ...closed, hash: denied, readHead: denied };
  h.deps.reader = {
    ...h.deps.reader,
    read: () => Promise.reject(new SluiceError('unreadable', 'a.txt cannot be read (EACCES)')),
  };
  expect(await h.reconcile('a.txt', 'change', { lastAttempt: false })).toMatchObject({ outcome: 'failed', reason: 'unreadable' });
});

describe.each(['EIO', 'ESTALE', 'EMFILE', 'ENFILE', 'EAGAIN', 'EBUSY'])('%s passes by itself', (code) => {
  const refuse = () => Promise.reject(Object.assign(new Error(code), { code }));

  it('so the file is tried again and its last good revision is served', async () => {
    const h = await harness();
    await h.write('a.md', 'old');
    await h.reconcile('a.md');
    await h.write('a.md', 'changed');
    const files = h.deps.files;
    const refusals = [
      { ...files, readHead: refuse },
      { ...files, stat: (path: string) => (path.endsWith('a.md') ? refuse() : files.stat(path)) },
      { ...files, realpath: (path: string) => (path.endsWith('a.md') ? refuse() : files.realpath(path)) },
    ];
    for (const refusing of refusals) {
      h.deps.files = refusing;
      await expect(h.reconcile('a.md', 'change', { lastAttempt: false })).rejects.toMatchObject({
        code: 'unreadable',
        kind: 'transient',
      });
      expect(await h.top('a.md')).toMatchObject({ status: 'indexed' });
      expect(await h.texts('a.md')).toEqual(['old']);
    }
    h.deps.files = files;
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'indexed' });
    expect(await h.texts('a.md')).toEqual(['changed']);
  });
});

it.each(['EACCES', 'EIO'])(
  'a real path that cannot be resolved (%s) deletes nothing, not even at the last attempt',
  async (code) => {
    const h = await harness();
    await h.write('a.md', 'old');
    await h.reconcile('a.md');
    await h.write('a.md', 'changed');
    const { realpath } = h.deps.files;
    h.deps.files = {
      ...h.deps.files,
      realpath: (path) => (path.endsWith('a.md') ? Promise.reject(Object.assign(new Error(code), { code })) : realpath(path)),
    };
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'failed', reason: 'unreadable', serving: true });
    expect(await h.texts('a.md')).toEqual(['old']);
  },
);

describe.each([
  { when: 'before', step: 'commit' },
  { when: 'after', step: 'committed' },
])('a disk that refuses to be looked at $when the commit of a delete', ({ step }) => {
  it('ends no job: what was gone a moment ago may only be out of reach', async () => {
    let refuses = false;
    const files = createNodeFiles();
    const h = await harness({
      files: {
        stat: (path) => (refuses ? Promise.reject(Object.assign(new Error('EIO'), { code: 'EIO' })) : files.stat(path)),
      },
    });
    await h.write('a.md', 'kept');
    await h.reconcile('a.md');
    await h.remove('a.md');
    h.at(step, async () => {
      refuses = true;
      await h.write('a.md', 'kept');
    });
    await expect(h.reconcile('a.md', 'unlink', { lastAttempt: false })).rejects.toMatchObject({ kind: 'transient' });
    if (step === 'commit') expect(await h.top('a.md')).toMatchObject({ status: 'indexed' });
    refuses = false;
    await h.reconcile('a.md', 'unlink');
    expect(await h.texts('a.md')).toEqual(['kept']);
  });
});

describe('a root that refuses every look', () => {
  /** A harness whose root refuses to be looked into while `refuses` is true. */
  async function refusing() {
    const state = { refuses: false };
    const files = createNodeFiles();
    const denied = () => Promise.reject(Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' }));
    const h = await harness({
      files: {
        stat: (path) => (state.refuses && path.startsWith(`${h.root}/`) ? denied() : files.stat(path)),
        readHead: (path, length) => (state.refuses ? denied() : files.readHead(path, length)),
      },
    });
    return { h, state };
  }

  it.each(['', 'fence', 'base', 'read', 'parsed', 'commit', 'committed'])(
    'is no failure of its documents, whenever it begins: %s',
    async (step) => {
      const { h, state } = await refusing();
      const refuse = async () => {
        state.refuses = true;
      };
      await h.write('a.md', 'one');
      await h.reconcile('a.md');
      await h.write('a.md', 'two');
      if (step === '') state.refuses = true;
      else h.at(step, refuse);
      expect(await h.reconcile('a.md')).toEqual({ outcome: 'suspended' });
      expect(await h.top('a.md')).toMatchObject({ status: 'indexed', security_level: 1 });
      expect(await h.texts('a.md')).toEqual([step.startsWith('commit') ? 'two' : 'one']);
      state.refuses = false;
      await h.reconcile('a.md', 'scan');
      expect(await h.texts('a.md')).toEqual(['two']);
    },
  );

  it('that can be read again while its refusal is looked into is looked at again', async () => {
    const { h, state } = await refusing();
    await h.write('a.md', 'one');
    const stat = h.deps.files.stat;
    state.refuses = true;
    h.deps.files = {
      ...h.deps.files,
      stat(path) {
        if (path.endsWith('.sluice-probe')) state.refuses = false;
        return stat(path);
      },
    };
    expect(await h.reconcile('a.md')).toMatchObject({ outcome: 'indexed' });
  });
});
