import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ServiceError } from './errors.js';
import { openEnvironment } from './lmdb-environment.js';
import { asStorageError } from './storage-space.js';

describe('openEnvironment', () => {
  it('keeps what a transaction wrote and nothing of one that threw', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'gannet-lmdb-')), 'with.dot', 'store');
    const first = openEnvironment(path, { kind: 'system' });
    const values = first.database<{ n: number }, string>('values');
    await first.transaction(() => void values.put('a', { n: 1 }));
    await expect(
      first.transaction(() => {
        void values.put('a', { n: 2 });
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    await first.close();

    const second = openEnvironment(path, { kind: 'system', readOnly: true });
    expect(second.database<{ n: number }, string>('values').get('a')).toEqual({ n: 1 });
    await second.close();
  });
});

describe('asStorageError', () => {
  it('recognises a full disk by code and message, and leaves other errors', () => {
    for (const full of [
      Object.assign(new Error('x'), { code: 'ENOSPC' }),
      Object.assign(new Error('x'), { code: 'disk-full' }),
      new Error('MDB_MAP_FULL: Environment mapsize limit reached'),
      new Error('write: No space left on device'),
    ]) {
      expect(asStorageError(full)).toBeInstanceOf(ServiceError);
    }
    const other = new Error('x');
    expect(asStorageError(other)).toBe(other);
  });
});
