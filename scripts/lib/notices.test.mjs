import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { noticesOf } from './notices.mjs';

it('noticesOf has the licences of each bundled package and of its data once', () => {
  const table = createRequire(import.meta.url).resolve('opencc-js/dict/TSCharacters');
  const text = noticesOf([{ moduleIds: [table, '/src/main.ts'] }, { moduleIds: [table, '\0rolldown/runtime.js'] }, {}]);
  expect(text.match(/^opencc-js [\d.]+ \(MIT/gm)).toHaveLength(1);
  // Licences of the code and of the tables.
  expect(text).toContain('Permission is hereby granted');
  expect(text).toContain('Apache License');
});
