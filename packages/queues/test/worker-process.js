import { createReconcileWorker } from '../dist/index.js';

// A worker in a process of its own, for tests that kill, freeze or end it. Says what it does, a line each.
const [url, namespace, mode, lockMs] = process.argv.slice(2);
const say = (line) => process.stdout.write(`${line}\n`);
const worker = createReconcileWorker({
  url,
  namespace,
  concurrency: 4,
  settings: { lockMs: Number(lockMs), stalledMs: 500 },
  handle: async (request, { signal, crashes }) => {
    // Listens before it says that it began: whoever reads that may freeze and wake it at once.
    const ended = new Promise((resolve, reject) => {
      const alive = setInterval(() => undefined, 1000);
      if (mode === 'quick') setTimeout(resolve, 100);
      // Ends with the next SIGCONT: a test that freezes it in the midst of its job must not come too late.
      if (mode === 'frozen') process.once('SIGCONT', resolve);
      // `deaf` never ends, `failing` throws something of its own when it must end.
      if (mode !== 'deaf' && mode !== 'frozen') signal.addEventListener('abort', () => reject(new Error('about to throw')));
      signal.addEventListener('abort', () => clearInterval(alive));
    });
    say(`began ${request.path} ${crashes}`);
    // Never lets its event loop turn again.
    while (mode === 'spinning');
    await ended;
    say(`ended ${request.path}`);
  },
});
process.once('SIGTERM', async () => {
  await worker.stop({ deadlineMs: 300 });
  process.exit(0);
});
await worker.start();
say('ready');
