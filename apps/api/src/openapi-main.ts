// Writes apps/api/openapi.json from the routes. With --check it only compares, and fails when the committed file is not up to date.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describeApi } from './openapi.js';

const file = fileURLToPath(new URL('../openapi.json', import.meta.url));
const text = `${JSON.stringify(await describeApi(), null, 2)}\n`;

if (!process.argv.includes('--check')) {
  await writeFile(file, text);
  process.stdout.write(`${file}\n`);
} else if ((await readFile(file, 'utf8').catch(() => '')) !== text) {
  process.stderr.write('apps/api/openapi.json is not what the routes say: run "npm run openapi" and commit it.\n');
  process.exitCode = 1;
}
