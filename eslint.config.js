import js from '@eslint/js';
import tseslint from 'typescript-eslint';

/** Names that Node.js provides, for the plain JavaScript files (TypeScript knows them by itself). */
const nodeGlobals = Object.fromEntries(
  [
    'process console Buffer URL URLSearchParams TextDecoder TextEncoder AbortController AbortSignal performance fetch',
    'setTimeout clearTimeout setInterval clearInterval setImmediate queueMicrotask structuredClone module require __dirname',
  ]
    .flatMap((names) => names.split(' '))
    .map((name) => [name, 'readonly']),
);

export default tseslint.config(
  {
    ignores: ['node_modules/', 'dist/', 'coverage/', 'data/', '.demo/', 'native-bindings/build*/'],
  },
  {
    // Exceptions belong in this file, where they are seen together, and not in comments.
    linterOptions: { noInlineConfig: true },
  },
  js.configs.recommended,
  {
    rules: {
      eqeqeq: 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'object-shorthand': 'error',
      'no-unused-expressions': 'error',
      'no-param-reassign': 'error',
      'no-constant-condition': ['error', { checkLoops: false }],
    },
  },
  {
    files: ['**/*.{js,mjs,cjs}'],
    languageOptions: { globals: nodeGlobals },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      '@typescript-eslint/no-unnecessary-type-arguments': 'error',
      // A union may name the values that mean something beside the type that holds them.
      '@typescript-eslint/no-redundant-type-constituents': 'off',
      '@typescript-eslint/no-non-null-assertion': 'error',
      '@typescript-eslint/return-await': ['error', 'in-try-catch'],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      // An interface may ask for a promise where an implementation has nothing to wait for.
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    // Whatever opens an environment does so through the library that checks what it reads.
    files: ['**/*.ts'],
    ignores: ['src/platform/lmdb.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': [
        'error',
        { paths: [{ name: 'lmdb', message: 'Values come from src/platform/lmdb.ts.', allowTypeImports: true }] },
      ],
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'native-bindings/*.ts', 'config/*.ts'],
    ignores: ['**/*.test.ts', 'src/cli/**'],
    rules: {
      // The service speaks through its log; only the command line prints.
      'no-console': 'error',
    },
  },
  {
    files: ['src/**/*.ts', 'src/**/*.tsx', 'native-bindings/*.ts', 'config/*.ts'],
    ignores: ['**/*.test.ts'],
    rules: {
      'max-lines': ['error', { max: 400, skipBlankLines: true, skipComments: true }],
      'max-lines-per-function': ['error', { max: 70, skipBlankLines: true, skipComments: true, IIFEs: true }],
      'max-params': ['error', 4],
    },
  },
  {
    // A test looks into parsed JSON of which it knows the shape; the assertions check it.
    files: ['**/*.test.ts', 'test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      // Vitest reads from its source what a hook takes: one that takes nothing still has to say so.
      'no-empty-pattern': ['error', { allowObjectPatternsAsParameters: true }],
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
    },
  },
);
