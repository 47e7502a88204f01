import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { open } from './lmdb.js';
import { afterEach, describe, expect, it } from 'vitest';
import { kernel } from '../../native-bindings/index.js';
import { limitMappedMemory, LOOKS_PER_WINDOW, MappedAllowance } from './mapped-memory.js';
import { residentFileBytes } from './own-memory.js';
import { itWhere } from '../../test/support/skip.js';

const MEBIBYTE = 2 ** 20;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

itWhere(residentFileBytes() !== undefined, 'this system does not tell what is resident')(
  'MappedAllowance keeps mapped files within the budget and every byte readable',
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
    const limit = limitMappedMemory({ kernel, dataDir: folder, mappedBytesMax: 8 * MEBIBYTE, mappedBusyBytesMax: 0 });
    readAll();
    expect((residentFileBytes() ?? 0) - before).toBeGreaterThan(32 * MEBIBYTE);
    await database.put(64, Buffer.from('written while the mapping is let go'));
    await expect.poll(() => (residentFileBytes() ?? 0) - before).toBeLessThan(32 * MEBIBYTE);
    limit.stop();
    readAll();
    expect(database.get(64)?.toString()).toBe('written while the mapping is let go');
    await database.close();
  },
);

describe('MappedAllowance', () => {
  const BUSY_MS_PER_LOOK = 100;
  const budget = { mappedBytesMax: 64, mappedBusyBytesMax: 600 };

  /**
   * Returns how often the service releases its mappings in each window; at each look it has touched more again, up to
   * everything.
   */
  function lettingGo(allowance: MappedAllowance, from: { cpuMs: number }, windows: number, touchedPerLook: number) {
    let resident = 0;
    return Array.from({ length: windows }, () => {
      let count = 0;
      for (let look = 0; look < LOOKS_PER_WINDOW; look += 1) {
        resident = Math.min(500, resident + touchedPerLook);
        from.cpuMs += touchedPerLook > 0 ? BUSY_MS_PER_LOOK : 0;
        if (!allowance.look(resident, () => from.cpuMs)) continue;
        count += 1;
        resident = 0;
      }
      return count;
    });
  }

  it('keeps to the small budget in a short burst', () => {
    const used = { cpuMs: 0 };
    const allowance = new MappedAllowance(budget, used.cpuMs);
    for (let look = 1; look < LOOKS_PER_WINDOW; look += 1) {
      used.cpuMs += BUSY_MS_PER_LOOK;
      expect(allowance.look(look % 2 === 0 ? 64 : 65, () => used.cpuMs)).toBe(look % 2 !== 0);
    }
  });

  it('grows under lasting load until nothing is released any more, up to its limit', () => {
    const used = { cpuMs: 0 };
    const allowance = new MappedAllowance(budget, used.cpuMs);
    const counts = lettingGo(allowance, used, 4, 100);
    expect(counts[0]).toBeGreaterThan(LOOKS_PER_WINDOW / 2);
    expect(counts.at(-1)).toBe(0);
    expect(allowance.look(601, () => used.cpuMs)).toBe(true);
  });

  it('returns to the small budget at rest', () => {
    const used = { cpuMs: 0 };
    const allowance = new MappedAllowance(budget, used.cpuMs);
    lettingGo(allowance, used, 4, 100);
    expect(allowance.look(500, () => used.cpuMs)).toBe(false);
    expect(lettingGo(allowance, used, 2, 0)).toEqual([0, 0]);
    expect(allowance.look(65, () => used.cpuMs)).toBe(true);
  });

  it('never grows if the limit for busy times is not higher', () => {
    const used = { cpuMs: 0 };
    const allowance = new MappedAllowance({ mappedBytesMax: 64, mappedBusyBytesMax: 16 }, used.cpuMs);
    const counts = lettingGo(allowance, used, 3, 100);
    expect(Math.min(...counts)).toBeGreaterThan(LOOKS_PER_WINDOW / 2);
  });
});
