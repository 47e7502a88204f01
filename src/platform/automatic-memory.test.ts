/** The memory that the service chooses on a small machine, while other settings are given: it starts, and warns. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { memoryWarnings } from './automatic-memory.js';
import { loadConfig } from './config.js';
import { requiredMemory } from './memory-budget.js';

const MEBIBYTE = 2 ** 20;
const machineOf = (mib: number) => ({ memoryBytes: mib * MEBIBYTE, processors: 32, memoryLimitedBy: undefined });
const SMALL = machineOf(1024);

const load = (env: Record<string, string>, machine = SMALL) => loadConfig({ argv: [], env, machine });

it('loadConfig chooses 256 MiB on a machine of one GiB, with threads that fit, without a warning', () => {
  const config = load({});
  expect(config.memory.mib).toBe(256);
  expect(memoryWarnings(config, SMALL)).toEqual([]);
});

it.each([
  { GANNET_SEARCH_THREADS: '2' },
  { GANNET_INGEST_THREADS: '2' },
  { GANNET_SEARCH_CACHE_MIB: '200' },
  { GANNET_SEARCH_THREADS: '16', GANNET_SEARCH_CACHE_MIB: '300' },
])('loadConfig chooses as much memory as %j needs, and warns', (env) => {
  const config = load(env);
  const least = Math.max(requiredMemory(config).mib, 2 * config.search.cache_mib);
  expect(config.memory.mib).toBe(least);
  expect(memoryWarnings(config, SMALL)).toMatchObject([{ mib: least, available: 1024 }]);
  expect(memoryWarnings(config, SMALL)[0]?.message).toContain('set fewer threads');
  expect(() => load({ ...env, GANNET_MEMORY_MIB: '256' })).toThrow(/memory\.mib/u);
});

it('loadConfig succeeds for any settings on a machine with any memory', () => {
  const count = fc.integer({ min: 0, max: 64 });
  fc.assert(
    fc.property(count, count, fc.integer({ min: 0, max: 4096 }), fc.integer({ min: 64, max: 65_536 }), (...given) => {
      const [search, ingest, cache, mib] = given;
      const machine = machineOf(mib);
      const env = {
        GANNET_SEARCH_THREADS: String(search),
        GANNET_INGEST_THREADS: String(ingest),
        GANNET_SEARCH_CACHE_MIB: String(cache),
      };
      const config = load(env, machine);
      const byItself = Math.max(256, Math.floor(mib / 4));
      expect(config.memory.mib).toBeGreaterThanOrEqual(byItself);
      const warnings = [config.memory.mib > byItself, config.memory.mib > mib].filter((isSo) => isSo);
      expect(memoryWarnings(config, machine)).toHaveLength(warnings.length);
    }),
  );
});
