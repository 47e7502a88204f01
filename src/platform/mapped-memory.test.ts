import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, expect, it } from 'vitest';
import { kernel } from '../../native-bindings/index.js';
import { limitMappedMemory, residentFileBytes } from './mapped-memory.js';

const MEBIBYTE = 2 ** 20;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const settled = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

it.skipIf(residentFileBytes() === undefined)(
  'keeps mapped files within the budget and every byte readable',
  async () => {
    const folder = mkdtempSync(join(os.tmpdir(), 'gannet-mapped-'));
    folders.push(folder);
    writeFileSync(join(folder, 'other'), '');
    const database = open<Buffer, number>({ path: join(folder, 'store'), encoding: 'binary' });
    await database.transaction(() => {
      for (let key = 0; key < 64; key += 1) void database.put(key, Buffer.alloc(MEBIBYTE, key));
    });
    await database.flushed;
    const before = residentFileBytes() ?? 0;
    const readAll = (): void => {
      for (let key = 0; key < 64; key += 1) expect(database.get(key)?.every((byte) => byte === key)).toBe(true);
    };
    const limit = limitMappedMemory({ kernel, dataDir: folder, mappedBytesMax: 8 * MEBIBYTE });
    readAll();
    expect((residentFileBytes() ?? 0) - before).toBeGreaterThan(32 * MEBIBYTE);
    await database.put(64, Buffer.from('written while the mapping is let go'));
    await settled(600);
    limit.stop();
    expect((residentFileBytes() ?? 0) - before).toBeLessThan(32 * MEBIBYTE);
    readAll();
    expect(database.get(64)?.toString()).toBe('written while the mapping is let go');
    await database.close();
  },
);
