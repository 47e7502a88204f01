import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadConfig, type Config } from './config.js';
import {
  affordableIngestThreads,
  affordableSearchThreads,
  memoryBudget,
  mergeBytes,
  requiredMemory,
} from './memory-budget.js';

const MEBIBYTE = 2 ** 20;

interface Settings {
  readonly mib: number;
  readonly searchThreads?: number;
  readonly ingestThreads?: number;
  readonly cacheMib?: number;
}

function configOf({ mib, searchThreads = 1, ingestThreads = 1, cacheMib = 0 }: Settings): Config {
  const base = loadConfig({ argv: [], env: {} });
  return {
    ...base,
    memory: { ...base.memory, mib },
    search: { ...base.search, threads: searchThreads, cache_mib: cacheMib },
    ingest: { ...base.ingest, threads: ingestThreads },
  };
}

const settings = fc.record({
  searchThreads: fc.integer({ min: 1, max: 64 }),
  ingestThreads: fc.integer({ min: 1, max: 32 }),
  cacheMib: fc.integer({ min: 0, max: 4096 }),
});

describe('memoryBudget', () => {
  it('gives out no more than there is, however small the allowed budget', () => {
    fc.assert(
      fc.property(settings, fc.integer({ min: 0, max: 8192 }), (parts, more) => {
        const required = requiredMemory(configOf({ mib: 0, ...parts })).mib;
        const config = configOf({ mib: required + more, ...parts });
        const budget = memoryBudget(config);
        const batchesAtWork = budget.batchBytesMax * 10 * config.ingest.threads;
        // `required` counts the shares of threads and caches; 24 MiB of it are for batches and merges.
        const forWork = (more + 24) * MEBIBYTE;
        const leastBatches = 256 * 1024 * 10 * config.ingest.threads;
        const leastBuffers = MEBIBYTE;
        expect(Math.max(0, batchesAtWork - leastBatches) + budget.mergeBytesMax).toBeLessThanOrEqual(forWork);
        expect(Math.max(0, budget.importBufferBytes - leastBuffers)).toBeLessThanOrEqual(forWork / 8);
      }),
    );
  });

  it('never reduces a part when the budget grows', () => {
    fc.assert(
      fc.property(
        settings,
        fc.integer({ min: 0, max: 4096 }),
        fc.integer({ min: 0, max: 4096 }),
        (parts, some, more) => {
          const required = requiredMemory(configOf({ mib: 0, ...parts })).mib;
          const [less, greater] = [some, some + more].map((mib) =>
            memoryBudget(configOf({ mib: required + mib, ...parts })),
          );
          for (const share of [
            'batchBytesMax',
            'batchRecordsMax',
            'importBufferBytes',
            'mergeBytesMax',
            'splitBytesMax',
          ] as const)
            expect(greater?.[share]).toBeGreaterThanOrEqual(less?.[share] ?? Infinity);
        },
      ),
      // In this example a thread for small writes fits for the first time: it must not reduce another part.
      { numRuns: 300, examples: [[{ searchThreads: 1, ingestThreads: 1, cacheMib: 161 }, 126, 7]] },
    );
  });

  it('uses the settings if there is plenty of memory', () => {
    const budget = memoryBudget(configOf({ mib: 65_536, searchThreads: 8, ingestThreads: 4 }));
    expect(budget).toMatchObject({
      batchBytesMax: 16 * MEBIBYTE,
      batchRecordsMax: 20_000,
      allocator: undefined,
      heapGrowthPercent: 300,
      heaps: { ingest: { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 1024 } },
    });
  });

  it('lets heaps grow before they are collected only if there is room', () => {
    expect(memoryBudget(configOf({ mib: 1024 })).heapGrowthPercent).toBeUndefined();
    expect(memoryBudget(configOf({ mib: 1023 })).heapGrowthPercent).toBe(50);
    expect(memoryBudget(configOf({ mib: 250 })).heapGrowthPercent).toBe(50);
  });

  it('gives young generations the sizes that V8 uses', () => {
    const young = (mib: number) => memoryBudget(configOf({ mib })).heaps.search.maxYoungGenerationSizeMb;
    expect([250, 512, 600, 1024, 4096].map(young)).toEqual([6, 12, 12, 24, 48]);
  });

  it('lets threads share arenas of the allocator, with large blocks outside of them, below a GiB', () => {
    const allocator = (mib: number) => memoryBudget(configOf({ mib })).allocator;
    expect(allocator(511)).toEqual({ arenasMax: 1, returnedBytesMin: 256 * 1024 });
    expect(allocator(512)).toEqual({ arenasMax: 4, returnedBytesMin: MEBIBYTE });
    expect(allocator(1023)).toEqual(allocator(512));
    expect(allocator(1024)).toBeUndefined();
  });

  it('leaves a heap that can read the largest record', () => {
    const config = configOf({ mib: 256 });
    const large = memoryBudget({ ...config, limits: { ...config.limits, record_bytes_max: 64 * MEBIBYTE } });
    expect(large.heaps.ingest.maxOldGenerationSizeMb).toBe(512);
    expect(large.splitBytesMax).toBe(128 * MEBIBYTE);
    expect(memoryBudget(config).heaps.ingest.maxOldGenerationSizeMb).toBe(64);
  });

  it('lets one write of any size wait', () => {
    const config = configOf({ mib: 224 });
    expect(memoryBudget(config).waitingWriteBytesMax).toBe(2 * config.limits.json_body_bytes_max);
  });
});

describe('requiredMemory', () => {
  it('grows with threads and caches, and lists its parts', () => {
    const small = requiredMemory(configOf({ mib: 0 }));
    const large = requiredMemory(configOf({ mib: 0, searchThreads: 4, cacheMib: 100 }));
    expect(large.mib - small.mib).toBe(100 + 3 * 22);
    expect(large.parts).toContain('88 for search.threads (4)');
    expect(large.parts).toContain('100 for search.cache_mib');
    expect(small.parts).not.toContain('cache');
  });
});

describe('automatic threads', () => {
  it('are as many as wanted if there is memory, and fewer otherwise', () => {
    const threads = (mib: number) => {
      const ingestThreads = affordableIngestThreads(32, configOf({ mib }));
      return { ingest: ingestThreads, search: affordableSearchThreads(63, configOf({ mib, ingestThreads })) };
    };
    expect(threads(16_384)).toEqual({ ingest: 32, search: 63 });
    expect(threads(224)).toEqual({ ingest: 1, search: 1 });
    const { ingest, search } = threads(512);
    expect(
      requiredMemory(configOf({ mib: 512, ingestThreads: ingest, searchThreads: search })).mib,
    ).toBeLessThanOrEqual(512);
    expect(search).toBeGreaterThan(1);
  });
});

describe('mergeBytes', () => {
  it('is about the measured 105 MiB for a million sentences', () => {
    expect(mergeBytes({ documentCount: 1_000_000, fileBytes: 120 * MEBIBYTE }) / MEBIBYTE).toBeGreaterThan(105);
  });
});
