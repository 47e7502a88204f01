/** Environments on a file system that repeatedly fills up and gets room again, compared with a plain map. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { SeededRandom } from '../../test/support/random.js';
import { canMount, SmallFileSystem } from '../../test/support/small-file-system.js';
import { openEnvironment, type LmdbEnvironment } from './lmdb-environment.js';
import { isStorageError } from './storage-space.js';
import { describeWhere } from '../../test/support/skip.js';

const mounting = canMount('environments on a full disk');
const ROUNDS = 120;
const KEYS = 400;
const CONCURRENT = 4;

let folder: string;
let disk: SmallFileSystem | undefined;
afterEach(() => {
  disk?.unmount();
  disk = undefined;
  rmSync(folder, { recursive: true, force: true });
});

interface Change {
  readonly key: number;
  /** The new value; undefined if the key is removed. */
  readonly value: string | undefined;
}

function newDisk(): SmallFileSystem {
  folder = mkdtempSync(join(tmpdir(), 'gannet-lmdb-full-'));
  disk = SmallFileSystem.mount(folder);
  return disk;
}

const valuesOf = (environment: LmdbEnvironment) => environment.database<string, number>('values');
const everything = (environment: LmdbEnvironment) =>
  new Map(Array.from(valuesOf(environment).getRange(), ({ key, value }) => [key, value]));

describeWhere(mounting, 'no file system can be mounted')('an environment on a full disk', () => {
  it('has exactly what was acknowledged, whatever fails, and works again when there is room', async () => {
    const random = new SeededRandom(14);
    const small = newDisk();
    const path = join(folder, 'store');
    let environment = openEnvironment(path, { kind: 'system' });
    let values = valuesOf(environment);
    const model = new Map<number, string>();
    let refused = 0;
    for (let round = 0; round < ROUNDS; ++round) {
      if (round % 6 === 3) small.shrinkTo(random.below(16) * 4096);
      if (round % 6 === 0) small.grow();
      const changes = Array.from({ length: CONCURRENT }, (_, lane): Change[] =>
        Array.from({ length: random.below(40) }, () => ({
          // Each lane has its own keys, so that the order of commits does not matter.
          key: random.below(KEYS) * CONCURRENT + lane,
          value: random.next() < 0.3 ? undefined : 'v'.repeat(random.below(9000)),
        })),
      );
      await Promise.all(
        changes.map(async (lane) => {
          try {
            await environment.transaction(() => {
              for (const { key, value } of lane) {
                if (value === undefined) values.removeSync(key);
                else values.putSync(key, value);
              }
            });
          } catch (error) {
            if (!isStorageError(error)) throw error;
            refused += 1;
            return;
          }
          for (const { key, value } of lane) {
            if (value === undefined) model.delete(key);
            else model.set(key, value);
          }
        }),
      );
      values.resetReadTxn();
      expect(everything(environment)).toEqual(new Map([...model].sort(([a], [b]) => a - b)));
      if (round % 40 === 39) {
        await environment.close();
        environment = openEnvironment(path, { kind: 'system' });
        values = valuesOf(environment);
      }
    }
    await environment.close();
    expect(refused).toBeGreaterThan(10);
  });

  it('is refused as storage-full if it cannot be created, and created when there is room', async () => {
    const small = newDisk();
    small.shrink();
    const open = () => openEnvironment(join(folder, 'new'), { kind: 'system' });
    expect(open).toThrow(expect.objectContaining({ code: 'storage-full' }));
    small.shrinkTo(140_000);
    expect(() => {
      const environment = open();
      for (let database = 0; database < 30; ++database) environment.database(`database-${database}`);
    }).toThrow(expect.objectContaining({ code: 'storage-full' }));
    small.grow();
    const environment = open();
    await environment.transaction(() => valuesOf(environment));
    await environment.close();
  });
});
