import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { learnedFile, removeLearned, writeLearned } from './learned-file.js';
import { LearnedSearchesCache } from './learned-searches-cache.js';

const CHECKED_AGAIN_MS = 2000;

let folder: string;
let path: string;
let ms = 0;
let cache: LearnedSearchesCache;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-learned-'));
  path = learnedFile(folder, 'one');
  ms = 0;
  cache = new LearnedSearchesCache(
    folder,
    (text) => text.toLowerCase(),
    () => ms,
  );
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const learn = (text: string) => {
  writeLearned(path, { queries: [{ text, searches: 2, clicks: 0 }], clicked: [] });
};
const known = () =>
  cache
    .of('one')
    ?.completions('', { max: 10, requireClick: false })
    .map(({ text }) => text);

it('LearnedSearchesCache rereads files that were created, changed or deleted after an interval', () => {
  expect(known()).toBeUndefined();
  learn('red');
  expect(known()).toBeUndefined();
  ms += CHECKED_AGAIN_MS;
  expect(known()).toEqual(['red']);
  learn('blue');
  expect(known()).toEqual(['red']);
  ms += CHECKED_AGAIN_MS;
  expect(known()).toEqual(['blue']);
  removeLearned(path);
  ms += CHECKED_AGAIN_MS;
  expect(known()).toBeUndefined();
});

it.each([
  ['cut short', '{"format": 1, "queries": [["re'],
  ['of another release', '{"format": 2, "entries": []}'],
  ['without its parts', '{"format": 1}'],
  ['empty', ''],
])('LearnedSearchesCache ignores a file that is %s', (_what, content) => {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
  expect(known()).toBeUndefined();
});
