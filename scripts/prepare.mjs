// What both start scripts need before node_modules exists: plain JavaScript, no dependencies.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');

/** Versions of Node that the dependencies run on: ^20.19, ^22.12 or >= 24. */
export function isSupportedNode(version) {
  const [major, minor] = version.split('.').map(Number);
  return (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major >= 24;
}

/** Ends with exit code 2 on a Node that is too old, naming what was found. */
export function requireNode() {
  if (isSupportedNode(process.versions.node)) return;
  process.stderr.write(
    `Sluice needs Node 20.19 or newer 20, 22.12 or newer 22, or 24 and newer; this is Node ${process.versions.node} (${process.execPath}).\n` +
      'Install one from https://nodejs.org or with your version manager, then run the same command again.\n',
  );
  process.exit(2);
}

/** True when node_modules holds what the lock file names. npm records what it installed in a lock file of its own. */
export function isInstalled(root = ROOT) {
  const hidden = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(hidden)) return false;
  let wanted;
  let present;
  try {
    wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    present = JSON.parse(readFileSync(hidden, 'utf8')).packages;
  } catch {
    return false;
  }
  return Object.entries(wanted).every(([path, entry]) => {
    // Workspaces themselves, and packages of other platforms, which npm leaves out.
    if (!path.includes('node_modules/') || entry.optional || entry.devOptional || entry.peer) return true;
    const found = present[path];
    return found !== undefined && (entry.link || found.version === entry.version);
  });
}

/** Environment of everything these scripts run: tools must not call home. */
export function toolEnvironment() {
  return {
    ...process.env,
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_NO_UPDATE_NOTIFIER: '1',
    DO_NOT_TRACK: '1',
    NPM_CONFIG_UPDATE_NOTIFIER: 'false',
  };
}

/**
 * Ends this process by SIGTERM when the npm that runs it has gone: who ends npm by its pid, as a script does, means all of it, and npm passes
 * that on to a shell only. Returns what ends the watch.
 */
export function endWithParent() {
  if (process.env.npm_lifecycle_event === undefined) return () => undefined;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    process.kill(process.pid, 'SIGTERM');
  }, 500);
  timer.unref();
  return () => clearInterval(timer);
}

const running = new Set();

/** Ends what run() has started and what that has started, by process group. */
export function endRunning(signal = 'SIGTERM') {
  for (const child of running) {
    try {
      process.kill(-child.pid, signal);
    } catch {
      // It has ended in the meantime.
    }
  }
}

/** Runs a command; resolves with its exit code and, unless it is shown as it comes, its output. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    const show = options.show === true;
    const child = spawn(command, args, {
      cwd: ROOT,
      // Output that is collected is shown later as plain text.
      env: { ...toolEnvironment(), ...(show ? {} : { NO_COLOR: '1' }), ...options.env },
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
      detached: true,
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    if (child.pid !== undefined) running.add(child);
    child.on('error', (error) => resolve({ code: 127, output: error.message }));
    child.on('close', (code, signal) => {
      running.delete(child);
      resolve({ code: code ?? 1, output: signal === null ? output : `${output}\nended by ${signal}` });
    });
  });
}

/** Path of a tool that npm has installed. */
export function bin(name) {
  return join(ROOT, 'node_modules', '.bin', name);
}

/** Installs the dependencies when node_modules does not hold what the lock file names. */
export async function install(say) {
  if (isInstalled()) return { code: 0, output: '' };
  if (process.env.SLUICE_OFFLINE === '1' && !existsSync(join(ROOT, 'node_modules'))) {
    return {
      code: 1,
      output: 'The dependencies are not installed and SLUICE_OFFLINE=1 forbids fetching them: run "npm ci" once.',
    };
  }
  say('installing the dependencies (npm ci); this takes a minute or two, once');
  const offline = process.env.SLUICE_OFFLINE === '1' ? ['--offline'] : [];
  return runNpm(['ci', '--no-audit', '--no-fund', ...offline]);
}

/** Runs the npm that runs this script, else the one on the PATH. */
export function runNpm(args) {
  const path = process.env.npm_execpath;
  return path?.endsWith('.js') && existsSync(path) ? run(process.execPath, [path, ...args]) : run('npm', args);
}

/** Builds what changed since the last build. */
export function build(say = () => undefined) {
  if (!existsSync(join(ROOT, 'packages', 'launcher', 'dist'))) say('building; this takes about a minute, once');
  return run(bin('turbo'), ['run', 'build', '--continue', '--output-logs=errors-only']);
}

/** Imports the launcher, which exists after the build. */
export function importLauncher() {
  return import(new URL('../packages/launcher/dist/index.js', import.meta.url).href);
}

export function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
