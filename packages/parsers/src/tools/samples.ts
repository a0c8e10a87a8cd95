import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { stdout } from 'node:process';
import { parseArgs } from 'node:util';
import { type ParsedDocument, SluiceError } from '@sluice/core';
import { brokenLaws } from '../laws.js';
import { createParserRegistry } from '../registry.js';
import { defaultParseLimits } from '../settings.js';
import { EXPECTED_OUTCOMES } from './samples-expected.js';

interface Outcome {
  outcome: string;
  facts: string;
  /** A sentence of the document, to be found by. */
  sentence: string;
  faults: string[];
}

/**
 * Parses every file of a folder and prints what became of each beside what is expected; with `--url`, also asks a running Sluice that
 * watches the folder for a sentence of each and expects the file among the first three.
 *
 * Arguments: FOLDER [--passwords a,b] [--url http://127.0.0.1:4180]
 */
export async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { passwords: { type: 'string' }, url: { type: 'string' } },
  });
  const [folder] = positionals;
  if (folder === undefined) {
    stdout.write('usage: npm run samples -- FOLDER [--passwords a,b] [--url http://127.0.0.1:4180]\n');
    return 2;
  }
  const passwords = values.passwords?.split(',') ?? [];
  let wrong = 0;
  stdout.write('| file | expected | outcome | what was read | a sentence of it | found |\n|---|---|---|---|---|---|\n');
  for (const name of (await readdir(folder)).sort()) {
    const path = join(folder, name);
    if (!(await stat(path)).isFile()) continue;
    const result = await parseOne(path, name, passwords);
    const expected = expectedOf(name, passwords);
    const found = values.url === undefined || result.sentence === '' ? '-' : await placeOf(values.url, name, result.sentence);
    if (!expected.includes(result.outcome) || result.faults.length > 0 || found === 'no') wrong++;
    const cells = [
      name,
      expected.join(' or '),
      [result.outcome, ...result.faults].join('; '),
      result.facts,
      result.sentence.slice(0, 80),
      found,
    ];
    stdout.write(`| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`);
  }
  stdout.write(`\n${wrong} not as expected\n`);
  return wrong === 0 ? 0 : 1;
}

/** With passwords given, files that need one may open. */
function expectedOf(name: string, passwords: readonly string[]): string[] {
  const expected = EXPECTED_OUTCOMES[name] ?? 'indexed';
  return expected === 'password_required' && passwords.length > 0 ? ['indexed', expected] : [expected];
}

async function parseOne(path: string, name: string, passwords: readonly string[]): Promise<Outcome> {
  const bytes = new Uint8Array(await readFile(path));
  try {
    const document = await createParserRegistry().parse({ bytes, name, limits: defaultParseLimits, passwords });
    const { elements, text, format, lang, warnings } = document;
    const bodyStart = document.frontMatter === undefined ? 0 : (elements[0]?.start ?? text.length);
    const facts = [format, `${elements.length} elements`, `${text.length} characters`, lang ?? '', ...warnings];
    return {
      outcome: elements.length === 0 ? 'empty' : 'indexed',
      facts: facts.filter((fact) => fact !== '').join(', '),
      sentence: sentenceOf(document),
      faults: brokenLaws(document, bodyStart).slice(0, 2),
    };
  } catch (error) {
    const outcome = error instanceof SluiceError ? error.code : `crash: ${String(error)}`;
    return { outcome, facts: '', sentence: '', faults: [] };
  }
}

/** Words from the middle of the document that are likely to be its own. */
function sentenceOf({ elements, text: whole }: ParsedDocument): string {
  const middle = Math.floor(elements.length / 2);
  const ordered = [...elements.slice(middle), ...elements.slice(0, middle)];
  const chosen =
    ordered.find((element) => element.kind === 'paragraph' && element.text.length > 40) ??
    ordered.find((element) => element.text.length > 10) ??
    ordered[0];
  if (chosen === undefined) return '';
  const text = (chosen.rows?.flat().join(' ') ?? chosen.text).replace(/\s+/g, ' ').trim();
  const sentence = text.split(/(?<=[.!?。！？])\s*/u).find((part) => part.length >= 20 && part.length <= 200);
  const chosenText = (sentence ?? text.slice(0, 200)).trim();
  // A file of single letters has no words of its own: all of them are what it says.
  return /[\p{L}\p{N}]{2}|\p{Emoji_Presentation}/u.test(chosenText) ? chosenText : whole.slice(0, 200).replace(/\s+/g, ' ');
}

/** A file is to be found among so many results. */
const FIRST_PLACES = 3;

/** The place at which the file is found, or `no`. */
async function placeOf(url: string, name: string, sentence: string): Promise<string> {
  const response = await fetch(new URL('/v1/search', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query: sentence.slice(0, 500), limit: FIRST_PLACES }),
  });
  const body = (await response.json()) as { results?: { doc_id?: string; text?: string }[] };
  // Files with the same text share places; the sentence itself being there counts too.
  const words = (text: string): string => text.replace(/[^\p{L}\p{N}]+/gu, ' ').trim();
  const place = body.results?.findIndex(
    (result) =>
      result.doc_id?.endsWith(`/${name}`) || (words(sentence) !== '' && words(result.text ?? '').includes(words(sentence))),
  );
  return place === undefined || place < 0 ? 'no' : String(place + 1);
}
