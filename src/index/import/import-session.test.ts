import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { kernel } from '../../../native-bindings/index.js';
import { asStorageError } from '../../platform/index.js';
import { ImportBuffers } from './import-buffers.js';
import type { ImportBatch } from '../contract/ingest-tasks.js';
import { BulkImport } from './import-session.js';
import { SourceSync } from './source-sync.js';

const BATCH_BYTES_MAX = 4096;
const line = (name: string): string => `${JSON.stringify({ name, text: 'x'.repeat(200) })}\n`;

function bytesOf({ records }: ImportBatch): number {
  return records.reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Returns an import whose batches are committed when `release` is called, or at once. */
function importInto(buffers: ImportBuffers, { held = false, room = Infinity } = {}) {
  const batches: number[] = [];
  let release = (): void => undefined;
  const released = held ? new Promise<void>((resolve) => (release = resolve)) : Promise.resolve();
  const session = new BulkImport({
    kernel,
    format: 'ndjson',
    batchRecordsMax: 1000,
    batchBytesMax: () => BATCH_BYTES_MAX,
    splitBytesMax: 1 << 20,
    errorsMax: 10,
    buffers,
    importId: 'import',
    commit: async (batch) => {
      batches.push(bytesOf(batch));
      await released;
      if (batches.length > room) throw asStorageError(Object.assign(new Error('write'), { code: 'ENOSPC' })) as Error;
      const created = batch.records.reduce((sum, { ends }) => sum + ends.length, 0);
      return { created, updated: 0, failed: 0, errors: [] };
    },
    onDone: () => undefined,
    settle: () => Promise.resolve(),
  });
  return { session, batches, release };
}

describe('a bulk import', () => {
  it('gathers batches up to their greatest size while there is room', async () => {
    const buffers = new ImportBuffers(1 << 20);
    const { session, batches } = importInto(buffers);
    await session.push(Buffer.from(Array.from({ length: 100 }, (_, index) => line(`r${index}`)).join('')));
    expect(await session.end()).toMatchObject({ created: 100 });
    expect(batches[0]).toBeGreaterThanOrEqual(BATCH_BYTES_MAX);
    expect(Math.max(...batches)).toBeLessThan(2 * BATCH_BYTES_MAX);
    expect(buffers.bytes).toBe(0);
  });

  it('reports how many records are in the list if the stream is damaged in its middle', async () => {
    const damaged = Buffer.from('x'.repeat((1 << 20) + 1));
    const { session } = importInto(new ImportBuffers(1 << 22));
    await session.push(Buffer.from(line('a') + line('b')));
    const failure = session.push(damaged).then(() => session.end());
    await expect(failure).rejects.toThrow(/line 3: .* Records before it that are in the list: 2\.$/);
    const { session: other } = importInto(new ImportBuffers(1 << 22));
    await expect(other.push(damaged).then(() => other.end())).rejects.toThrow(/is longer than 1048576 bytes\.$/);
  });

  it('reports how many records are in the list if the disk is full in its middle: nothing was written, it said', async () => {
    const lines = (count: number) => Buffer.from(Array.from({ length: count }, (_, at) => line(`r${at}`)).join(''));
    const { session, batches } = importInto(new ImportBuffers(1 << 20), { room: 2 });
    const failure = session.push(lines(100)).then(() => session.end());
    await expect(failure).rejects.toMatchObject({
      code: 'storage-full',
      detail: expect.stringMatching(
        /^The disk is full: the rest of the import was not written\. Free space and try again\. Records of it that are in the list: \d\d\.$/,
      ) as string,
    });
    expect(batches.length).toBeGreaterThan(2);
    const { session: other } = importInto(new ImportBuffers(1 << 20), { room: 0 });
    await expect(other.push(lines(100)).then(() => other.end())).rejects.toThrow('nothing was written');
  });

  it('gathers smaller batches if push() asks for that', async () => {
    const { session, batches } = importInto(new ImportBuffers(1 << 20));
    for (let index = 0; index < 20; index += 1) await session.push(Buffer.from(line(`r${index}`)), 600);
    for (let index = 20; index < 80; index += 1) await session.push(Buffer.from(line(`r${index}`)));
    expect(await session.end()).toMatchObject({ created: 80 });
    expect(Math.max(...batches.slice(0, 6))).toBeLessThan(1200);
    expect(Math.max(...batches)).toBeGreaterThanOrEqual(BATCH_BYTES_MAX);
  });

  it('has one batch in progress and none waiting if records of a source are committed in small batches', async () => {
    const { session, batches, release } = importInto(new ImportBuffers(1 << 20), { held: true });
    const removeUnlisted = () => Promise.resolve({ removed: 0, cursor: undefined });
    const sync = new SourceSync({ start: () => session, removeUnlisted, onEnded: () => undefined });
    const pushed = (async () => {
      for (let index = 0; index < 20; index += 1) await sync.push(Buffer.from(line(`r${index}`)), 600);
    })();
    for (let turn = 0; turn < 10; turn += 1) await setImmediate();
    expect(batches).toHaveLength(1);
    release();
    await pushed;
    expect(await sync.end()).toMatchObject({ created: 20 });
  });

  it('has smaller batches while other imports hold the room, and loses no record', async () => {
    const buffers = new ImportBuffers(6000);
    const other = importInto(buffers, { held: true });
    await other.session.push(Buffer.from(Array.from({ length: 20 }, (_, index) => line(`o${index}`)).join('')));
    const heldByOther = buffers.bytes;
    expect(heldByOther).toBeGreaterThan(BATCH_BYTES_MAX);

    const { session, batches } = importInto(buffers);
    for (let index = 0; index < 100; index += 1) await session.push(Buffer.from(line(`r${index}`)));
    expect(await session.end()).toMatchObject({ created: 100 });
    expect(Math.max(...batches)).toBeLessThan(BATCH_BYTES_MAX);
    expect(buffers.bytes).toBe(heldByOther);

    other.release();
    expect(await other.session.end()).toMatchObject({ created: 20 });
    expect(buffers.bytes).toBe(0);
  });

  it('waits for its own batches if there is no room', async () => {
    const buffers = new ImportBuffers(2000);
    const { session, batches, release } = importInto(buffers, { held: true });
    let taken = false;
    const pushed = session
      .push(Buffer.from(Array.from({ length: 40 }, (_, index) => line(`r${index}`)).join('')))
      .then(() => (taken = true));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(taken).toBe(false);
    expect(buffers.bytes).toBeLessThan(2000 + 1024);
    expect(batches.length).toBeGreaterThan(0);
    release();
    await pushed;
    expect(await session.end()).toMatchObject({ created: 40 });
    expect(buffers.bytes).toBe(0);
  });

  it('gives its room back when it is aborted', async () => {
    const buffers = new ImportBuffers(1 << 20);
    const { session } = importInto(buffers);
    await session.push(Buffer.from(line('a') + line('b')));
    expect(buffers.bytes).toBeGreaterThan(0);
    session.abort();
    expect(buffers.bytes).toBe(0);
  });
});
