/**
 * A store that outgrows its map again and again while another thread reads it. That thread runs the compiled code in
 * dist.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { packageRoot } from '../platform/index.js';
import { RecordStore } from './record-store.js';

const INITIAL_MAP_BYTES = 2 ** 20;
const BATCHES = 40;
const BATCH_RECORDS = 200;
const RECORD_BYTES = 8192;
/** The least growth, as a multiple of the first map. */
const GROWTH_MIN = 32;

/** Posts the number of records after each pass over all of them, and ends when it gets a message. */
const READER = `
const { parentPort, workerData } = require('node:worker_threads');
import(workerData.module).then(({ RecordStore }) => {
  const store = new RecordStore(workerData.path, { initialMapBytes: workerData.mapBytes });
  let stopped = false;
  parentPort.once('message', () => (stopped = true));
  const read = () => {
    store.refresh();
    let count = 0;
    for (const { key, value } of store.version(1).records.getRange({})) {
      if (value.length !== workerData.recordBytes || value[0] !== key % 251 || value.at(-1) !== key % 251) {
        throw new Error('record ' + key + ' is not as it was written');
      }
      count += 1;
    }
    parentPort.postMessage(count);
    if (stopped) void store.close().then(() => parentPort.close());
    else setImmediate(read);
  };
  read();
});`;

it('RecordStore grows far beyond its first map while another thread reads it', async () => {
  const path = mkdtempSync(join(tmpdir(), 'gannet-growth-'));
  const store = new RecordStore(path, { create: true, initialMapBytes: INITIAL_MAP_BYTES });
  store.version(1).prepare();
  const module = pathToFileURL(join(packageRoot(), 'dist', 'src', 'records', 'index.js')).href;
  const workerData = { module, path, mapBytes: INITIAL_MAP_BYTES, recordBytes: RECORD_BYTES };
  const reader = new Worker(READER, { eval: true, workerData });
  const failed = new Promise<never>((_, reject) => reader.once('error', reject));
  const pass = () =>
    Promise.race([failed, new Promise<number>((resolve) => reader.once('message', (count: number) => resolve(count)))]);
  const exited = new Promise((resolve) => reader.once('exit', resolve));
  try {
    await pass();
    for (let batch = 0; batch < BATCHES; ++batch) {
      store.transaction(() => {
        for (let index = 0; index < BATCH_RECORDS; ++index) {
          const number = batch * BATCH_RECORDS + index;
          store.version(1).records.putSync(number, Buffer.alloc(RECORD_BYTES, number % 251));
        }
      });
      // The reader continues its passes in every state of the map.
      await pass();
    }
    let seen = 0;
    while (seen < BATCHES * BATCH_RECORDS) seen = await pass();
    expect(seen).toBe(BATCHES * BATCH_RECORDS);
    expect(seen * RECORD_BYTES).toBeGreaterThan(GROWTH_MIN * INITIAL_MAP_BYTES);
    store.refresh();
    expect(store.version(1).records.getCount()).toBe(seen);
  } finally {
    reader.postMessage('stop');
    await Promise.race([exited, failed.catch(() => undefined)]);
    await store.close();
    rmSync(path, { recursive: true, force: true });
  }
});
