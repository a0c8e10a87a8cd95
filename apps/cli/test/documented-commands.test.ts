import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { describe, expect, it } from 'vitest';
import { makeProgram } from '../src/program.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PAGES = ['README.md', 'CONTRIBUTING.md', ...readdirSync(join(ROOT, 'docs')).flatMap((name) => pageOf(name))];
/** A mention of a command in running text need not name what it is used on. */
const INCOMPLETE = new Set(['commander.missingArgument', 'commander.missingMandatoryOptionValue', 'commander.help']);

function pageOf(name: string): string[] {
  return name.endsWith('.md') ? [`docs/${name}`] : [];
}

interface Mention {
  line: string;
  /** In a block of commands, which readers copy whole. */
  whole: boolean;
}

/** Command lines of `sluice` in a page: those of code blocks, and code in running text that begins with it. */
function mentionsIn(page: string): Mention[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const mentions: Mention[] = [];
  const prose = text.replace(/^```.*?\n(.*?)^```/gms, (_, block: string) => {
    for (const line of block.replace(/\\\n/g, ' ').split('\n')) {
      for (const command of commandsOf(line)) mentions.push({ line: command, whole: true });
    }
    return '';
  });
  for (const [, code = ''] of prose.matchAll(/`([^`]+)`/g)) {
    for (const command of commandsOf(code.replace(/\s+/g, ' '))) mentions.push({ line: command, whole: false });
  }
  return mentions;
}

/** The parts of a shell line that call sluice: by npx, in a container, with variables before it. */
function commandsOf(line: string): string[] {
  const before = /^(?:\w+=\S* )*(?:npx |docker compose exec (?:-T |-e \w+ )*api )?sluice(?: |$)/;
  return line
    .split(/ && | \| (?=\w+ )/)
    .map((part) => part.trim())
    .filter((part) => before.test(part))
    .map((part) =>
      part
        .replace(before, '')
        .replace(/\s+#.*$/, '')
        .replace(/ > \S+$/, ''),
    );
}

/** Words as a shell makes them. In a line that shows what can be given (`[--role reader|operator]`), its first choice. */
function wordsOf(line: string): string[] {
  const shown = /(^| )\[/.test(line);
  const choice = line
    .replace(/[[\]]/g, '')
    .replace(/\|\S+/g, '')
    .replace(/(\d)-\d\b/g, '$1')
    .replace('DATE', '2027-01-31');
  const plain = shown ? choice : line;
  return [...plain.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, bare]) => single ?? double ?? bare ?? '');
}

async function parse(words: readonly string[]): Promise<{ ran: boolean; code?: string; message?: string }> {
  let ran = false;
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const program = makeProgram({ stdout: silent, stderr: silent }, () => async () => {
    ran = true;
  });
  try {
    await program.parseAsync([...words], { from: 'user' });
    return { ran };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { ran, code: error.code, message: error.message };
  }
}

describe('command lines in the documentation', () => {
  it.each(PAGES)('%s names only commands and options that exist', async (page) => {
    for (const { line, whole } of mentionsIn(page)) {
      const { ran, code, message } = await parse(wordsOf(line));
      const fine = ran || (!whole && code !== undefined && INCOMPLETE.has(code));
      expect(fine, `${page}: sluice ${line}\n${message}`).toBe(true);
    }
  });

  it('are found', () => {
    const commands = PAGES.flatMap(mentionsIn).map(({ line }) => line.split(' ')[0]);
    expect(commands.length).toBeGreaterThan(20);
    expect(commands).toEqual(expect.arrayContaining(['search', 'why', 'dlq', 'verify', 'doctor', 'key']));
  });

  it('would be found out, were they wrong', async () => {
    for (const line of [
      'dlq retry --cause corrupt',
      'repair',
      'search',
      'documents --status broken',
      'dlq retry --code nonsense',
    ]) {
      expect((await parse(wordsOf(line))).ran, line).toBe(false);
    }
  });
});
