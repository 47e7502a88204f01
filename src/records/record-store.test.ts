import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { RecordStore } from './record-store.js';

let folder: string;
let store: RecordStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-record-store-'));
  store = new RecordStore(folder, { create: true });
  store.version(1).prepare();
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

it('RecordStore names the last record if another one cannot be appended', () => {
  const records = store.version(1);
  const append = (number: number) => {
    store.transaction(() => {
      records.putRecord(number, Buffer.from([number]), true);
    });
  };
  for (const number of [1, 7]) append(number);
  expect(() => {
    append(5);
  }).toThrow('record 5 of version 1 could not be appended (false): the last one that is there is 7, of 2');
  append(8);
  expect(records.recordCount()).toBe(3);
});
