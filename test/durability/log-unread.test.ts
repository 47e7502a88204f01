/** A log into a pipe that nobody reads: the service answers, and ends when it is told to. */
import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TestService } from '../support/service.js';

/** Of one line each; together many times what a pipe and the waiting lines hold. */
const REQUESTS = 40_000;
const AT_A_TIME = 50;

it('costs lines of the log, and the service ends on SIGTERM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-unread-'));
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Open for both, it needs no reader, and nobody reads.
  const pipe = openSync(fifo, 'r+');
  const dataDir = join(folder, 'data');
  const service = new TestService(dataDir, { dataDir, env: { GANNET_LOG_LEVEL: 'info' }, standardError: pipe });
  try {
    await service.start();
    for (let sent = 0; sent < REQUESTS; sent += AT_A_TIME) {
      const answers = Array.from({ length: AT_A_TIME }, () => service.client.get('/list/default'));
      for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
      if ((await service.metric('gannet_log_lines_dropped_total')) > 0) break;
    }
    await expect.poll(() => service.metric('gannet_log_lines_dropped_total')).toBeGreaterThan(0);
    expect(await service.stop()).toBe(0);
  } finally {
    await service.stop('SIGKILL');
    closeSync(pipe);
    rmSync(folder, { recursive: true, force: true });
  }
});
