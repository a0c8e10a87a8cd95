import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@sluice/source', 'node', 'import', 'default'] },
  ssr: { resolve: { conditions: ['@sluice/source', 'node', 'import', 'default'] } },
  test: {
    include: ['{apps,packages}/*/{src,test}/**/*.test.ts', 'e2e/**/*.test.ts', 'benchmarks/test/**/*.test.ts'],
    setupFiles: ['./vitest.setup.ts'],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
