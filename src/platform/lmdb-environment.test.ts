import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../test/support/random.js';
import { ServiceError } from './errors.js';
import { endsInOverlappingSync } from './environment-file.js';
import { openEnvironment } from './lmdb-environment.js';
import { open } from './lmdb.js';
import { asStorageError } from './storage-space.js';

describe('openEnvironment', () => {
  it('keeps what a transaction wrote, and nothing of one that threw', async () => {
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

  it('has the last values, whatever lengths of values one transaction wrote over each other', async () => {
    const random = new SeededRandom(3);
    const environment = openEnvironment(join(mkdtempSync(join(tmpdir(), 'gannet-lmdb-')), 'store'), { kind: 'system' });
    const values = environment.database<string, number>('values');
    const model = new Map<number, string>();
    for (let transaction = 0; transaction < 40; ++transaction) {
      await environment.transaction(() => {
        for (let change = 0; change < 60; ++change) {
          const key = random.below(30);
          const value = 'v'.repeat(random.below(40_000));
          if (random.below(4) === 0) {
            values.removeSync(key);
            model.delete(key);
          } else {
            values.putSync(key, value);
            model.set(key, value);
          }
        }
      });
      values.resetReadTxn();
      const stored = Array.from(values.getRange(), ({ key, value }) => [key, value] as const);
      expect(new Map(stored)).toEqual(new Map([...model].sort(([a], [b]) => a - b)));
    }
    await environment.close();
  });
});

describe('an environment of a release with overlapping syncs', () => {
  const HALF_PAGE = 2048;
  const PAGE = 4096;
  /** The offset of the boot id with which a meta page was written, after the page header. */
  const BOOT_AT = 160;
  const SUM_AT = 168;
  const VERSION_AT = 28;
  const STOCK_VERSION = 2;
  const FLAGS_AT = 18;
  const META_FLAG = 0x08;

  /** Makes two commits; returns the files after each of them. */
  async function twoCommits(folder: string): Promise<[first: Buffer, second: Buffer]> {
    const path = join(folder, 'before');
    const root = open({ path, noSubdir: false, overlappingSync: true });
    const values = root.openDB<number, string>({ name: 'accounts' });
    const states: Buffer[] = [];
    for (const [key, size] of [
      ['first', 10],
      ['second', 2000],
    ] as const) {
      await root.childTransaction(() => {
        for (let index = 0; index < size; ++index) values.putSync(`${key}-${index}`, index);
      });
      await root.flushed;
      states.push(unsealed(readFileSync(join(path, 'data.mdb'))));
    }
    await root.close();
    return states as [Buffer, Buffer];
  }

  /**
   * Removes the checksums of meta data, which such a release did not have; the third copy of the meta data is after
   * the first.
   */
  function unsealed(file: Buffer): Buffer {
    for (const meta of [0, HALF_PAGE, PAGE]) {
      file.fill(0, meta + SUM_AT, meta + SUM_AT + 8);
      file.writeUInt32LE(STOCK_VERSION, meta + VERSION_AT);
    }
    for (const page of [0, PAGE]) file.writeUInt16LE(META_FLAG, page + FLAGS_AT);
    return file;
  }

  function environmentOf(folder: string, file: Buffer): string {
    const path = join(folder, 'after');
    mkdirSync(path);
    writeFileSync(join(path, 'data.mdb'), file);
    return path;
  }

  it('is opened at its last complete commit after a loss of power, and stays there', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-lmdb-'));
    const [first, second] = await twoCommits(folder);
    // The meta pages of the second commit were written, but not its other pages, nor the note that it is complete.
    const torn = Buffer.from(first);
    second.copy(torn, 0, 0, HALF_PAGE);
    second.copy(torn, PAGE, PAGE, 2 * PAGE);
    for (const page of [0, PAGE]) torn.writeBigInt64LE(1n, page + BOOT_AT);
    const path = environmentOf(folder, torn);
    expect(endsInOverlappingSync(join(path, 'data.mdb'))).toBe(true);
    for (const written of [0, 1]) {
      const environment = openEnvironment(path, { kind: 'system' });
      const values = environment.database<number, string>('accounts');
      expect(values.getCount()).toBe(10 + written);
      await environment.transaction(() => void values.putSync(`more-${written}`, 0));
      await environment.close();
      expect(endsInOverlappingSync(join(path, 'data.mdb'))).toBe(false);
    }
  });

  it('is opened at its last commit after a clean end', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-lmdb-'));
    await twoCommits(folder);
    const path = join(folder, 'copy');
    mkdirSync(path);
    writeFileSync(join(path, 'data.mdb'), unsealed(readFileSync(join(folder, 'before', 'data.mdb'))));
    const environment = openEnvironment(path, { kind: 'system' });
    expect(environment.database<number, string>('accounts').getCount()).toBe(2010);
    await environment.close();
  });
});

describe('asStorageError', () => {
  it('recognizes a full disk by code and message, and returns other errors', () => {
    for (const full of [
      Object.assign(new Error('x'), { code: 'ENOSPC' }),
      Object.assign(new Error('x'), { code: 'disk-full' }),
      Object.assign(new Error('x'), { code: 'EFBIG' }),
      new Error('MDB_MAP_FULL: Environment mapsize limit reached'),
      new Error('write: No space left on device'),
    ]) {
      expect(asStorageError(full)).toBeInstanceOf(ServiceError);
    }
    const other = new Error('x');
    expect(asStorageError(other)).toBe(other);
  });
});
