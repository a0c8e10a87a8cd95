import tseslint from 'typescript-eslint';

const noEnvironment = {
  selector: "MemberExpression[object.name='process'][property.name='env']",
  message: 'Only packages/config reads the environment; take settings as arguments.',
};

const shortWait = {
  selector:
    'CallExpression[callee.object.name=/^(vi|expect)$/][callee.property.name=/^(waitFor|waitUntil|poll)$/][arguments.length<2]',
  message: 'Without a limit this gives up after a second, which a busy machine takes; use until of @sluice/testkit.',
};

export default tseslint.config(
  { ignores: ['**/dist/**', '**/node_modules/**', '**/*.mjs', '**/*.cjs', '**/*.js', '**/*.generated.ts'] },
  {
    files: ['**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/only-throw-error': 'error',
      'no-console': 'error',
      'no-restricted-syntax': ['error', noEnvironment],
    },
  },
  { files: ['packages/config/src/**/*.ts'], rules: { 'no-restricted-syntax': 'off' } },
  { files: ['apps/cli/src/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.test.ts', 'vitest.setup.ts', 'packages/testkit/**/*.ts', 'e2e/**/*.ts', 'benchmarks/**/*.ts'],
    rules: { 'no-restricted-syntax': ['error', shortWait], 'no-console': 'off' },
  },
);
