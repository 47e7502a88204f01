/** When the folder of all lists counts as missing. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { areListsGone, asGone } from './list-files.js';

let folder: string;
let lists: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-list-files-'));
  lists = join(folder, 'lists');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('areListsGone is true if the folder is missing, empty, or has only what a new disk has', () => {
  expect(areListsGone(lists)).toBe(true);
  mkdirSync(lists);
  expect(areListsGone(lists)).toBe(true);
  mkdirSync(join(lists, 'lost+found'));
  expect(areListsGone(lists)).toBe(true);
  mkdirSync(join(lists, 'a'));
  expect(areListsGone(lists)).toBe(false);
});

it('areListsGone is true if the folder cannot be read', () => {
  writeFileSync(lists, '');
  expect(areListsGone(lists)).toBe(true);
});

it('asGone recognizes a stale file handle, although Node.js has no name for its error number', () => {
  mkdirSync(join(lists, 'a'), { recursive: true });
  const stale = Object.assign(new Error('Unknown system error -116'), { code: 'Unknown system error -116' });
  expect(asGone(stale, join(lists, 'a'))).toMatchObject({ code: 'storage-failed' });
  const other = Object.assign(new Error('it exists'), { code: 'EEXIST' });
  expect(asGone(other, join(lists, 'a'))).toBe(other);
});
