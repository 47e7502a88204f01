import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { noticesOf } from './notices.mjs';

it('has the licences of what is taken in, and of the data in it, once', () => {
  const table = createRequire(import.meta.url).resolve('opencc-js/dict/TSCharacters');
  const text = noticesOf([{ moduleIds: [table, '/src/main.ts'] }, { moduleIds: [table, '\0rolldown/runtime.js'] }, {}]);
  expect(text.match(/^opencc-js [\d.]+ \(MIT/gm)).toHaveLength(1);
  // Of the code, and of the tables.
  expect(text).toContain('Permission is hereby granted');
  expect(text).toContain('Apache License');
});
