import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);

/** Makes buffers as answers are, each waiting for a while beside what lasts, and prints how often the whole heap was collected. */
const PROGRAM = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  const { tuneGarbageCollection } = await import(process.argv[1]);
  if (process.argv[2] !== 'untuned') tuneGarbageCollection({ heapGrowthPercent: 300 });
  let whole = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) whole += detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR ? 1 : 0;
  }).observe({ entryTypes: ['gc'] });
  const lasting = Array.from({ length: 100_000 }, (_, index) => ({ index, others: [index] }));
  const waiting = Array.from({ length: 500 });
  for (let turn = 0; turn < 3000; turn += 1) {
    for (let made = 0; made < 100; made += 1) {
      waiting[(turn * 100 + made) % waiting.length] = { body: new ArrayBuffer(6000), head: new Array(100).fill(turn) };
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  await new Promise((resolve) => setTimeout(resolve, 10));
  process.stdout.write(String(lasting.length > 0 ? whole : -1));
`;

async function wholeCollections(way: 'tuned' | 'untuned'): Promise<number> {
  const compiled = new URL('../../dist/src/platform/garbage-collection.js', import.meta.url).href;
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', PROGRAM, compiled, way]);
  return Number(stdout);
}

describe('tuned garbage collection', () => {
  it('collects the whole heap less often while short-lived buffers come and go', async () => {
    const [untuned, tuned] = await Promise.all([wholeCollections('untuned'), wholeCollections('tuned')]);
    expect(untuned).toBeGreaterThan(4);
    expect(tuned).toBeLessThan(untuned / 2);
  });
});
