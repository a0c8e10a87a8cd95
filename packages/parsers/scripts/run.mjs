// Builds the package and runs one of its tools: node packages/parsers/scripts/run.mjs samples|fuzz|bench|formats [arguments]
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const [tool, ...args] = process.argv.slice(2);
if (!['samples', 'fuzz', 'bench', 'formats'].includes(tool)) {
  console.error('usage: run.mjs samples FOLDER | fuzz [--minutes N] [--seed N] | bench [NAME] | formats [--check]');
  process.exit(2);
}
const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, '../../..');
const build = spawnSync('npx', ['turbo', 'run', 'build', '--filter=@sluice/parsers', '--output-logs=errors-only'], {
  cwd: root,
  stdio: ['ignore', 2, 2],
});
if (build.status !== 0) process.exit(1);
const { main } = await import(pathToFileURL(join(here, `../dist/tools/${tool}.js`)).href);
process.exitCode = await main(args);
