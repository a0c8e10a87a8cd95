// npm run chaos -- [--minutes N] [--seed S] [--without RULE]: breaks an instance of its own in every way it knows, and compares what is
// left with the disk. With --without, the scenario of a rule of the commit protocol with that rule left out: it fails and says why.
import { parseArgs } from 'node:util';
import { bin, build, endRunning, importLauncher, install, ROOT, requireNode, run } from './prepare.mjs';

requireNode();

const RULES = ['fence', 'grace', 'pinned-retry', 'visibility', 'delete-rule'];

function readOptions() {
  try {
    const { values } = parseArgs({
      options: { minutes: { type: 'string', default: '5' }, seed: { type: 'string' }, without: { type: 'string' } },
    });
    const seed = values.seed ?? String(Date.now() % 100_000);
    if (!(Number(values.minutes) > 0)) throw new Error('--minutes takes a number over 0');
    if (!/^\d+$/.test(seed)) throw new Error('--seed takes a whole number');
    if (values.without !== undefined && !RULES.includes(values.without))
      throw new Error(`--without takes one of ${RULES.join(', ')}`);
    return { minutes: values.minutes, seed, without: values.without };
  } catch (error) {
    process.stderr.write(`${error.message}\nusage: npm run chaos -- [--minutes N] [--seed S] [--without RULE]\n`);
    process.exit(2);
  }
}

const { minutes, seed, without } = readOptions();
const say = (line) => process.stdout.write(`${line}\n`);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    endRunning('SIGINT');
    setTimeout(() => process.exit(130), 15_000).unref();
  });
}

for (const step of [() => install(say), () => build(say)]) {
  const { code, output } = await step();
  if (code !== 0) {
    say(output.trim());
    process.exit(1);
  }
}
const launcher = await importLauncher();
const model = await launcher.obtainModel(launcher.createWorkplace(process.env, say), { cwd: ROOT });
// In a mount namespace of its own the harness may give the data folder a small disk; what is mounted goes with the processes.
const unshare = ['unshare', '--mount', '--propagation', 'private'];
const mayMount = process.getuid?.() === 0 && (await run('unshare', [...unshare.slice(1), 'true'])).code === 0;
const vitest = [bin('vitest'), 'run', '--config', 'e2e/chaos/vitest.config.ts'];
const [command, ...args] = [...(mayMount ? unshare : []), ...vitest, without === undefined ? 'faults.chaos' : 'without.chaos'];
const { code } = await run(command, args, {
  show: true,
  env: {
    SLUICE_TEST_MODEL: model,
    SLUICE_CHAOS_MINUTES: minutes,
    SLUICE_CHAOS_SEED: seed,
    ...(mayMount ? { SLUICE_CHAOS_MOUNTS: '1' } : {}),
    ...(without === undefined ? {} : { SLUICE_CHAOS_WITHOUT: without }),
  },
});
process.exit(code);
