// npm run bench -- [NAME...] [--short], npm run soak -- [--minutes N]: builds, then measures. --help lists what there is.
import { join } from 'node:path';
import { bin, build, endRunning, install, ROOT, requireNode, run } from './prepare.mjs';

requireNode();

const say = (line) => process.stderr.write(`${line}\n`);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    endRunning('SIGINT');
    setTimeout(() => process.exit(130), 15_000).unref();
  });
}

const compile = () => run(bin('tsc'), ['-p', join(ROOT, 'benchmarks/tsconfig.build.json')]);
for (const step of [() => install(say), () => build(say), compile]) {
  const { code, output } = await step();
  if (code !== 0) {
    say(output.trim());
    process.exit(1);
  }
}
const [entry = 'run', ...args] = process.argv.slice(2);
const { code } = await run(process.execPath, [join(ROOT, `benchmarks/dist/${entry}.js`), ...args], { show: true });
process.exit(code);
