import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { failed, fine, type Check } from './check.js';
import { checksInShort, listsOnDiskCheck, segmentSumsCheck } from './list-checks.js';

const checks = (count: number, make: (number: number) => Check) =>
  Array.from({ length: count }, (_, each) => make(each));
const agreeing = (count: number) => checks(count, (each) => fine(`Records of fine-${each}`, 'store and index agree'));
const damaged = (count: number) => checks(count, (each) => failed(`Records of bad-${each}`, 'it is not there'));

it('checksInShort names every list if there are few', () => {
  const few = [...damaged(40), ...agreeing(60)];
  expect(checksInShort(few)).toEqual(few);
});

it('checksInShort names the lists with problems among thousands, and counts the others', () => {
  const told = checksInShort([...agreeing(5_000), ...damaged(2), ...agreeing(4_998)]);
  expect(told).toEqual([...damaged(2), fine('Records', '9,998 lists: store and index agree')]);
  expect(checksInShort(agreeing(101))).toEqual([fine('Records', '101 lists: store and index agree')]);
});

it('checksInShort names the first hundred of thousands of lists with problems', () => {
  const told = checksInShort(damaged(10_000));
  expect(told).toHaveLength(101);
  expect(told.at(-1)).toEqual(failed('Records', 'problems in 9,900 more lists'));
});

it('Checks of lists ignore other files and folders among lists and segments', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-lists-'));
  try {
    for (const path of ['01-list/store', '01-list/segments', 'mine'])
      mkdirSync(join(folder, 'lists', path), { recursive: true });
    for (const path of ['notes.txt', '01-list/segments/notes.txt', 'mine/notes.txt'])
      writeFileSync(join(folder, 'lists', path), 'x');
    expect(listsOnDiskCheck(folder)).toEqual(fine('Lists on disk', '1 list, 0 segments, 0 B'));
    expect(await segmentSumsCheck(folder)).toEqual(fine('Segment checksums', '0 segments match their checksums'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
