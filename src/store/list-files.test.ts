/** When the folder of all lists counts as gone. */
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

it('the folder of all lists is gone where it is missing, or as a new disk has it', () => {
  expect(areListsGone(lists)).toBe(true);
  mkdirSync(lists);
  expect(areListsGone(lists)).toBe(true);
  mkdirSync(join(lists, 'lost+found'));
  expect(areListsGone(lists)).toBe(true);
  mkdirSync(join(lists, 'a'));
  expect(areListsGone(lists)).toBe(false);
});

it('so it is where it is there and cannot be read', () => {
  writeFileSync(lists, '');
  expect(areListsGone(lists)).toBe(true);
});

it('so it is where a server of files says so by a number that Node.js has no name for', () => {
  mkdirSync(join(lists, 'a'), { recursive: true });
  const stale = Object.assign(new Error('Unknown system error -116'), { code: 'Unknown system error -116' });
  expect(asGone(stale, join(lists, 'a'))).toMatchObject({ code: 'storage-failed' });
  const other = Object.assign(new Error('it exists'), { code: 'EEXIST' });
  expect(asGone(other, join(lists, 'a'))).toBe(other);
});
