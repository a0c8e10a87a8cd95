import { readFile, writeFile } from 'node:fs/promises';
import { stdout } from 'node:process';
import { formatsPage } from '../formats-page.js';

const PAGE = new URL('../../../../docs/formats.md', import.meta.url);

/** Writes docs/formats.md from the registry; with `--check` only says whether it is up to date. */
export async function main(args: readonly string[]): Promise<number> {
  const page = formatsPage();
  if (!args.includes('--check')) {
    await writeFile(PAGE, page);
    return 0;
  }
  const isCurrent = (await readFile(PAGE, 'utf8').catch(() => '')) === page;
  if (!isCurrent) stdout.write('docs/formats.md is not what the registry says: run npm run formats\n');
  return isCurrent ? 0 : 1;
}
