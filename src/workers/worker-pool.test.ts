import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Piscina } from 'piscina';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { keepWorkerViews } from './worker-pool.js';

describe('keepWorkerViews', () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-pool-'));
  const program = join(folder, 'add-one.mjs');
  writeFileSync(program, 'export default (number) => number + 1;\n');
  afterAll(() => {
    rmSync(folder, { recursive: true });
  });

  const pools: Piscina[] = [];
  afterEach(() => Promise.all(pools.splice(0).map((pool) => pool.destroy())));

  /** A pool of two, and the views of its workers that the balancer got, those of different tasks one after the other. */
  function watchedPool(): { readonly pool: Piscina; readonly views: object[] } {
    const views: object[] = [];
    const pool = new Piscina({
      filename: program,
      minThreads: 2,
      maxThreads: 2,
      loadBalancer: (_task, workers) => {
        views.push(...workers);
        return workers.find(({ currentUsage }) => currentUsage === 0) ?? workers[0] ?? null;
      },
    });
    pools.push(pool);
    return { pool, views };
  }

  test('the installed Piscina makes views anew, and keeps them when it is told to', async () => {
    const plain = watchedPool();
    const kept = watchedPool();
    keepWorkerViews(kept.pool);
    for (const { pool } of [plain, kept]) {
      await pool.run(0); // when workers are being told of, it may still see others
      for (const number of [1, 2, 3]) expect(await pool.run(number)).toBe(number + 1);
    }
    expect(new Set(plain.views).size).toBe(plain.views.length);
    expect(new Set(kept.views.slice(2)).size).toBe(2);
  });

  test('a view that is kept says what its worker does', async () => {
    const { pool, views } = watchedPool();
    keepWorkerViews(pool);
    await pool.run(0);
    await Promise.all([pool.run(1), pool.run(2)]);
    const [first] = views.slice(-2) as { readonly currentUsage: number }[];
    expect(first?.currentUsage).toBe(0);
    const running = pool.run(3);
    expect(views.map((view) => (view as { readonly currentUsage: number }).currentUsage)).toContain(1);
    await running;
  });
});
