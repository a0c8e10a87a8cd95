import { defineConfig } from 'vitest/config';

/** `npm run model`: the larger stories, some minutes and a few GB of memory. */
export default defineConfig({
  test: { include: ['test/protocol-model/deep.ts'], pool: 'forks', maxWorkers: 1, execArgv: ['--max-old-space-size=8192'] },
});
