// npm start: installs and builds what is missing, then runs Sluice until Ctrl-C. See DESIGN: two commands.
// npm start -- [NAME=FOLDER...]: the folders to watch instead of ./inbox.
import { build, endRunning, endWithParent, importLauncher, install, requireNode, seconds } from './prepare.mjs';

requireNode();

function write(line) {
  process.stdout.write(`${line}\n`);
}

let interrupted = false;
function onSignal() {
  interrupted = true;
  endRunning();
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, onSignal);
const leaveParent = endWithParent();

async function prepare(name, work) {
  const since = performance.now();
  const result = await work();
  if (interrupted) process.exit(130);
  if (result.code !== 0) {
    process.stderr.write(`${result.output.trim()}\n\n${name} failed (${seconds(since)}).\n`);
    process.exit(1);
  }
}

await prepare('npm ci', () => install(write));
await prepare('the build', () => build(write));
const { runInstance } = await importLauncher();
// From here on the launcher listens to signals, and looks after its parent.
leaveParent();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(signal, onSignal);

const unknown = process.argv.slice(2).filter((argument) => argument.startsWith('-'));
if (unknown.length > 0) {
  process.stderr.write(
    `unknown option ${unknown[0]}: npm start takes folders, as docs=/a/docs; see "npx sluice up --help" for more\n`,
  );
  process.exit(2);
}
process.exitCode = await runInstance({ flags: { sources: process.argv.slice(2) }, env: process.env, cwd: process.cwd(), write });
process.exit();
