import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { checkEnvironmentFile, DamagedFileError, isDamage, isUnreadable, setAside } from './damaged-storage.js';
import { ServiceError } from './errors.js';
import { openEnvironment } from './lmdb-environment.js';

const PAGE_BYTES = 4096;
const META_BYTES = 192;

let folder: string;
let file: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-damaged-'));
  file = join(folder, 'data.mdb');
  const environment = openEnvironment(folder, { kind: 'system' });
  const database = environment.database<string>('things');
  for (const round of [1, 2, 3]) {
    await environment.transaction(() => {
      for (let index = 0; index < 500; index += 1) database.putSync(`key ${index}`, `value ${round} of ${index}`);
    });
  }
  await environment.close();
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns everything that can be read from the file. */
async function content(): Promise<unknown> {
  const environment = openEnvironment(folder, { kind: 'system' });
  try {
    return Array.from(environment.database<string>('things').getRange(), ({ key, value }) => [key, value]);
  } finally {
    await environment.close();
  }
}

describe('an LMDB environment', () => {
  it('passes the check if its file is valid, empty or missing', () => {
    checkEnvironmentFile(file);
    checkEnvironmentFile(join(folder, 'absent'));
    writeFileSync(join(folder, 'empty'), '');
    checkEnvironmentFile(join(folder, 'empty'));
  });

  it('fails the check if any bit of the used meta data is changed', () => {
    const bytes = readFileSync(file);
    // The bytes after the address, which LMDB does not use, up to the end of the checksum, except the padding of the
    // main database.
    for (const page of [0, 1]) {
      for (let at = 24 + 16; at < 24 + 152; at += 1) {
        const changed = Buffer.from(bytes);
        const offset = page * PAGE_BYTES + at;
        changed[offset] = (changed[offset] as number) ^ 0x10;
        writeFileSync(file, changed);
        expect(() => checkEnvironmentFile(file), `byte ${offset}`).toThrow(DamagedFileError);
      }
    }
  });

  it('fails the check if its file ends within the meta pages', () => {
    for (const bytes of [1, 100, PAGE_BYTES, PAGE_BYTES + META_BYTES]) {
      truncateSync(file, bytes);
      expect(() => checkEnvironmentFile(file), `${bytes} bytes`).toThrow(DamagedFileError);
      writeFileSync(file, Buffer.alloc(2 * PAGE_BYTES));
    }
  });

  it('answers as before or reports damage if any bit is changed', async () => {
    const right = await content();
    const bytes = readFileSync(file);
    let refused = 0;
    for (let at = 2 * PAGE_BYTES + 5; at < bytes.length; at += 997) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 0x04;
      writeFileSync(file, changed);
      try {
        expect(await content()).toEqual(right);
      } catch (error) {
        if (!isDamage(error)) throw error;
        refused += 1;
      }
    }
    expect(refused).toBeGreaterThan(0);
  });
});

describe('errors of storage', () => {
  it('that mean damage are recognized by isDamage', () => {
    expect(isDamage(new DamagedFileError('x', 'y'))).toBe(true);
    expect(isDamage(Object.assign(new Error('MDB_CORRUPTED'), { code: -30796 }))).toBe(true);
    expect(isDamage(new ServiceError('storage-damaged', 'x'))).toBe(true);
    expect(isDamage(Object.assign(new Error('no space'), { code: 'ENOSPC' }))).toBe(false);
    expect(isDamage(new ServiceError('storage-full', 'x'))).toBe(false);
    expect(isDamage(Object.assign(new Error('Invalid argument'), { code: 22 }))).toBe(true);
  });

  it('of an unreadable disk are recognized by isUnreadable', () => {
    expect(isUnreadable(Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO', syscall: 'read' }))).toBe(true);
    expect(isUnreadable(Object.assign(new Error('Input/output error'), { code: 5 }))).toBe(true);
    expect(isUnreadable(Object.assign(new Error('x'), { code: 'EIO', syscall: 'write' }))).toBe(false);
  });

  it('are not recognized by numbers that are no errno', async () => {
    const program = (status: number) => `echo Input/output error, no such device, invalid argument >&2; exit ${status}`;
    for (const status of [5, 19, 22]) {
      const error: unknown = await promisify(execFile)('sh', ['-c', program(status)]).catch(
        (failure: unknown) => failure,
      );
      expect(error).toMatchObject({ code: status });
      expect([isUnreadable(error), isDamage(error)], String(status)).toEqual([false, false]);
    }
    for (const name of ['InvalidCharacterError', 'QuotaExceededError', 'NetworkError']) {
      const error = new DOMException('Input/output error: invalid argument, no such device', name);
      expect([isUnreadable(error), isDamage(error)], name).toEqual([false, false]);
    }
  });
});

it('setAside moves a file to a unique dated name', () => {
  const now = new Date('2026-11-22T10:11:12.345Z');
  const names = [1, 2].map((round) => {
    const path = join(folder, 'queue');
    writeFileSync(path, String(round));
    return setAside(path, now);
  });
  expect(names).toEqual([
    join(folder, 'queue.damaged-20261122T101112Z'),
    join(folder, 'queue.damaged-20261122T101112Z-2'),
  ]);
});
