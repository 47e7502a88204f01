import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Piscina } from 'piscina';
import { afterEach, expect, it } from 'vitest';
import { ServiceError } from '../platform/index.js';
import { createMetrics } from '../platform/metrics.js';
import { WaitingForThreads } from './waiting-for-threads.js';
import { WorkerDeaths } from './worker-pool.js';

const folder = mkdtempSync(join(tmpdir(), 'gannet-threads-'));
const pools: Piscina[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.destroy()));
  rmSync(folder, { recursive: true, force: true });
});

it("Tasks are refused if their thread's file is of another release, because it would never start", async () => {
  const filename = join(folder, 'other-release.mjs');
  writeFileSync(filename, "throw new Error('the kernel has no such constant');");
  const pool = new Piscina({ filename, minThreads: 0, maxThreads: 1, atomics: 'disabled' });
  pools.push(pool);
  const waiting = new WaitingForThreads();
  pool.on('error', (error: unknown) => {
    waiting.threadDied(pool, error, new ServiceError('internal-error', 'It is logged.', { cause: error }));
  });
  for (let attempt = 0; attempt < 2; attempt += 1) {
    const answer = waiting.run(pool, async (signal) => pool.run('a task', { signal }) as Promise<unknown>);
    await expect(answer).rejects.toMatchObject({ code: 'internal-error' });
  }
});

it.each([
  ['ERR_WORKER_INIT_FAILED', 'resources-exhausted'],
  ['ENOMEM', 'resources-exhausted'],
  ['ERR_WORKER_OUT_OF_MEMORY', 'internal-error'],
])('A task in progress in a dying thread gets the same error as those that wait: %s is %s', (code, told) => {
  const deaths = new WorkerDeaths('ingest', pino({ level: 'silent' }), createMetrics());
  expect(deaths.failure(Object.assign(new Error('EAGAIN'), { code }))).toMatchObject({ code: told });
});
