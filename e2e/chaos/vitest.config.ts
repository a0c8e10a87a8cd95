import { defineConfig } from 'vitest/config';

const conditions = ['@sluice/source', 'node', 'import', 'default'];

/** The long runs, by `npm run chaos`: they are no part of `npm test`. */
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions } },
  test: {
    include: ['e2e/chaos/**/*.chaos.ts'],
    pool: 'forks',
    maxWorkers: 1,
    disableConsoleIntercept: true,
    hookTimeout: 120_000,
  },
});
