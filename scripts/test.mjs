// npm test: install, build, the checks, then one test run over all packages on real services. See DESIGN: two commands.
// npm test -- FILTER: the tests alone, those whose file matches.
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  bin,
  build,
  endRunning,
  endWithParent,
  importLauncher,
  install,
  ROOT,
  requireNode,
  run,
  runNpm,
  seconds,
} from './prepare.mjs';

requireNode();

const filters = process.argv.slice(2);
const testsOnly = filters.length > 0;
const began = performance.now();
const counts = { passed: 0, failed: 0 };
const started = { launcher: undefined, services: undefined, folder: undefined };
const FOLDER = 'sluice-test-';
const abort = new AbortController();

function say(line) {
  process.stdout.write(`${line}\n`);
}

function count(name, result, since) {
  const passed = result.code === 0;
  // Where the tests alone were asked for, a check that passes is no part of the answer; one that fails is.
  if (!passed) counts.failed += 1;
  else if (!testsOnly) counts.passed += 1;
  say(`${passed ? 'ok  ' : 'FAIL'}  ${name} (${seconds(since)})`);
  if (!passed) say(result.output.trim());
  return passed;
}

async function check(name, work) {
  const since = performance.now();
  const result = await work().catch((error) => ({ code: 1, output: error?.message ?? String(error) }));
  if (abort.signal.aborted) return false;
  return count(name, result, since);
}

/** The checks that need no services, each with what runs it. */
function checks() {
  const tool = (name, ...args) => [name, () => run(bin(name), args)];
  const list = [
    ['typecheck', () => run(bin('tsc'), ['--noEmit', '-p', 'tsconfig.json'])],
    ['lint (biome)', () => run(bin('biome'), ['ci', '--error-on-warnings', '.'])],
    ['lint (eslint)', () => run(bin('eslint'), ['.'])],
    [
      'dependency-cruiser',
      () => run(bin('depcruise'), ['--config', '.dependency-cruiser.cjs', ...existing('apps', 'packages', 'e2e')]),
    ],
    tool('knip'),
    tool('sherif'),
  ];
  if (hasScript('openapi:check')) list.push(['OpenAPI drift', () => runNpm(['run', '--silent', 'openapi:check'])]);
  return list;
}

function existing(...names) {
  return names.filter((name) => existsSync(join(ROOT, name)));
}

function hasScript(name) {
  return JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).scripts[name] !== undefined;
}

/** Runs the checks two at a time: this is a machine of few cores. */
async function runChecks() {
  const queue = checks();
  const lane = async () => {
    for (let next = queue.shift(); next !== undefined && !abort.signal.aborted; next = queue.shift()) await check(...next);
  };
  await Promise.all([lane(), lane()]);
}

/** A Redis, a Weaviate and the model, for this run alone; their addresses in the variables that the tests read. */
async function startServices() {
  const launcher = await importLauncher();
  await launcher.reclaimFolders(tmpdir(), FOLDER, process.env);
  started.folder = await mkdtemp(join(tmpdir(), FOLDER));
  started.launcher = launcher;
  // Where tests make their folders: what they leave running is found there.
  await mkdir(join(started.folder, 'tmp'));
  const workplace = launcher.createWorkplace(process.env, (line) => say(`      ${line}`), abort.signal);
  const [services, model] = await Promise.allSettled([
    launcher.startServicesAlone({ dataFolder: started.folder, workplace }),
    launcher.obtainModel(workplace, { cwd: ROOT }),
  ]);
  if (services.status === 'fulfilled') started.services = services.value;
  const failures = [services, model].filter((result) => result.status === 'rejected').map((result) => result.reason?.message);
  if (failures.length > 0) throw new Error(failures.join('\n'));
  const { redis, weaviate } = services.value;
  const TMPDIR = join(started.folder, 'tmp');
  return { TMPDIR, SLUICE_TEST_REDIS_URL: redis.url, SLUICE_TEST_WEAVIATE_URL: weaviate.url, SLUICE_TEST_MODEL: model.value };
}

/** One run over all packages; its counts are those of the report, and what no test reports counts as one failure. */
async function runTests(env) {
  const report = join(started.folder ?? tmpdir(), `vitest-${process.pid}.json`);
  const args = [join(ROOT, 'node_modules', 'vitest', 'vitest.mjs'), 'run', '--reporter=default', '--reporter=json'];
  const result = await run(process.execPath, [...args, `--outputFile.json=${report}`, ...filters], { env, show: true });
  const text = await readFile(report, 'utf8').catch(() => undefined);
  await rm(report, { force: true });
  if (text === undefined) {
    counts.failed += 1;
    return;
  }
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(text);
  // A file that fails before its first test (a broken import, a failing hook) has no failing test to count.
  const brokenFiles = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  ).length;
  const failed = numFailedTests + brokenFiles;
  counts.passed += numPassedTests;
  counts.failed += result.code !== 0 && failed === 0 ? 1 : failed;
}

async function stopServices() {
  if (started.folder !== undefined) {
    const left = await started.launcher.stopInstancesBelow(join(started.folder, 'tmp'), process.env);
    if (left.length > 0) say(`ended what tests left running: ${left.join(', ')}`);
  }
  await started.services?.stop().catch((error) => say(String(error)));
  if (started.folder !== undefined) await rm(started.folder, { recursive: true, force: true, maxRetries: 5 });
}

let interrupted = false;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    // npm passes a Ctrl-C on that the terminal has delivered already: one stop, however often it comes.
    if (interrupted) return;
    interrupted = true;
    abort.abort();
    endRunning();
    setTimeout(() => endRunning('SIGKILL'), 5_000).unref();
  });
}

endWithParent();

async function main() {
  if (!(await check('install', () => install(say)))) return;
  if (!(await check('build', build))) return;
  let env;
  const services = check('services', async () => {
    env = await startServices();
    return { code: 0, output: '' };
  });
  await Promise.all([services, testsOnly ? undefined : runChecks()]);
  if (!abort.signal.aborted) await runTests(env ?? {});
}

try {
  await main();
} finally {
  await stopServices();
}
say(`took ${seconds(began)}`);
say(`${counts.passed} passed, ${counts.failed} failed`);
process.exit(interrupted ? 130 : counts.failed > 0 ? 1 : 0);
