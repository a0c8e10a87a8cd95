import { accessOfNewFile } from '@sluice/ingestion';
import { FRONT_MATTER_EXTENSIONS } from '@sluice/metadata';
import { describe, expect, it } from 'vitest';
import { type createHarness, useHarnesses } from './harness.js';

type Harness = Awaited<ReturnType<typeof createHarness>>;
const harness = useHarnesses();

/** What a file's own metadata may say of access, and the level that follows; 1 is the source's. */
const KINDS = {
  absent: { yaml: undefined, level: 1 },
  strict: { yaml: 'security_level: 4', level: 4 },
  'broken, of access': { yaml: 'security_level: [', level: 5 },
  'broken, of something else': { yaml: 'title: [', level: 1 },
  'out of range': { yaml: 'security_level: 9', level: 5 },
  misspelt: { yaml: 'Security-Level: 4', level: 5 },
} as const;
type Kind = keyof typeof KINDS;
const kinds = Object.keys(KINDS) as Kind[];

const textOf = (kind: Kind, body: string) => (KINDS[kind].yaml === undefined ? body : `---\n${KINDS[kind].yaml}\n---\n\n${body}`);

/** The new state of the file, its own level that of the two parts. `!corrupt` makes every such state fail. */
async function write(h: Harness, name: string, frontMatter: Kind, sidecar: Kind, body: string): Promise<void> {
  await h.write(name, textOf(frontMatter, body));
  const { yaml } = KINDS[sidecar];
  if (yaml !== undefined) await h.write(`${name}.meta.yaml`, yaml);
}

const pairs = kinds.flatMap((frontMatter) => kinds.map((sidecar) => [frontMatter, sidecar] as const));

describe.each(FRONT_MATTER_EXTENSIONS)('access by the own metadata of a .%s file', (extension) => {
  it.each(pairs)('with front matter %s and sidecar %s', async (frontMatter, sidecar) => {
    const h = await harness();
    const level = Math.max(KINDS[frontMatter].level, KINDS[sidecar].level);
    // New, and of content that fails by itself.
    await write(h, `new.${extension}`, frontMatter, sidecar, '!corrupt');
    expect(await accessOfNewFile(h.deps, source(h), `new.${extension}`)).toMatchObject({
      security_level: isBroken(frontMatter) || isBroken(sidecar) ? 5 : level,
    });
    await h.reconcile(`new.${extension}`);
    expect((await h.top(`new.${extension}`))?.security_level, 'new').toBe(level);
    // Serving, and replaced by such content.
    await h.write(`old.${extension}`, 'A kettle.');
    await h.reconcile(`old.${extension}`);
    expect((await h.top(`old.${extension}`))?.security_level).toBe(1);
    await write(h, `old.${extension}`, frontMatter, sidecar, '!corrupt');
    await h.reconcile(`old.${extension}`);
    expect(await h.top(`old.${extension}`), 'serving').toMatchObject({ security_level: level, status: 'failed', chunks: 1 });
  });
});

it('a file that is away, or lies outside, is known to the highest clearance alone until it has a record', async () => {
  const h = await harness();
  for (const path of ['none.md', '../x.md', 'ignored/a.md']) {
    expect(await accessOfNewFile(h.deps, source(h), path), path).toEqual({ security_level: 5 });
  }
});

it.each(['utf-16le with a mark', 'utf-16be with a mark', 'utf-16le', 'utf-16be', 'utf-8 with a mark'])(
  'front matter in %s is read before parsing',
  async (encoding) => {
    const h = await harness();
    const mark = encoding.endsWith('mark') ? '\ufeff' : '';
    const text = `${mark}---\r\nsecurity_level: 4\r\n---\r\n!corrupt`;
    const bytes = Buffer.from(text, encoding.startsWith('utf-8') ? 'utf8' : 'utf16le');
    await h.writeBytes('a.md', encoding.startsWith('utf-16be') ? bytes.swap16() : bytes);
    expect(await accessOfNewFile(h.deps, source(h), 'a.md')).toEqual({ security_level: 4 });
  },
);

function isBroken(kind: Kind): boolean {
  return kind.startsWith('broken');
}

function source({ deps }: Harness) {
  const found = deps.source('inbox');
  if (found === undefined) throw new Error('no source');
  return found;
}

it.each(['.meta.yaml', '.meta.yml', '.meta.json'])('a sidecar ending in %s is read, comes and goes', async (suffix) => {
  const h = await harness();
  await h.write('a.txt', 'A kettle.');
  await h.reconcile('a.txt', 'add');
  await h.write(`a.txt${suffix}`, '{"security_level": 4}');
  await h.reconcile('a.txt');
  expect(await h.top('a.txt')).toMatchObject({ security_level: 4 });
  expect(await h.reconcile('a.txt')).toMatchObject({ outcome: 'unchanged' });
  await h.remove(`a.txt${suffix}`);
  await h.reconcile('a.txt');
  expect(await h.top('a.txt')).toMatchObject({ security_level: 1, sidecar_stat: '' });
});

it('two sidecars of one file hide it, until one of them goes', async () => {
  const h = await harness();
  await h.write('a.txt', 'A kettle.');
  await h.write('a.txt.meta.yaml', 'security_level: 2');
  await h.reconcile('a.txt', 'add');
  await h.write('a.txt.meta.yml', 'security_level: 1');
  const failed = await h.reconcile('a.txt');
  expect(failed).toMatchObject({
    outcome: 'failed',
    reason: 'invalid_metadata',
    message: expect.stringContaining('keep one of them'),
  });
  expect(await h.top('a.txt')).toMatchObject({ status: 'failed', chunks: 1, security_level: 5 });
  await h.remove('a.txt.meta.yaml');
  await h.reconcile('a.txt');
  expect(await h.top('a.txt')).toMatchObject({ status: 'indexed', security_level: 1 });
});

it('front matter that sets access in a text file hides it: the new state, the old one, and its name', async () => {
  const h = await harness();
  await h.write('a.txt', 'A kettle.');
  await h.reconcile('a.txt', 'add');
  await h.write('a.txt', '---\nsecurity_level: 4\n---\n!corrupt');
  expect(await accessOfNewFile(h.deps, source(h), 'a.txt')).toEqual({ security_level: 5 });
  expect(await h.reconcile('a.txt')).toMatchObject({ outcome: 'failed' });
  expect(await h.top('a.txt')).toMatchObject({ security_level: 5 });
});
