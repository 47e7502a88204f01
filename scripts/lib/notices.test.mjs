import { createRequire } from 'node:module';
import { expect, it } from 'vitest';
import { noticesOf } from './notices.mjs';

it('noticesOf lists the licences of a bundled library and of its data once', () => {
  const table = createRequire(import.meta.url).resolve('opencc-js/dict/TSCharacters');
  const text = noticesOf([{ moduleIds: [table, '/src/main.ts'] }, { moduleIds: [table, '\0rolldown/runtime.js'] }, {}]);
  expect(text.match(/^opencc-js [\d.]+ \(MIT/gm)).toHaveLength(1);
  // The licence of the code, and that of the tables.
  expect(text).toContain('Permission is hereby granted');
  expect(text).toContain('Apache License');
});
