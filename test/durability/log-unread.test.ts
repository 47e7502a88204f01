/**
 * Tests a log into a pipe that nobody reads, and a standard output that is closed: the service answers, and ends when
 * it is told to.
 */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { rawExchange } from '../support/raw-http.js';
import { TestService } from '../support/service.js';

/** One line each; together many times what a pipe and the waiting lines hold. */
const REQUESTS = 60_000;
/** Sent after one another on one connection: the client is what takes the time. */
const AT_A_TIME = 500;
const REQUEST = `GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${'x'.repeat(64)}\r\n\r\n`;

it('A log that nobody reads loses lines, and the service still ends on SIGTERM', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-unread-'));
  const fifo = join(folder, 'fifo');
  execFileSync('mkfifo', [fifo]);
  // Opened for both reading and writing, it needs no reader, and nobody reads.
  const pipe = openSync(fifo, 'r+');
  const dataDir = join(folder, 'data');
  const service = new TestService(dataDir, { dataDir, env: { GANNET_LOG_LEVEL: 'info' }, standardError: pipe });
  try {
    await service.start();
    const target = { host: '127.0.0.1', port: Number(new URL(service.address).port) };
    const pieces = [REQUEST.repeat(AT_A_TIME)];
    for (let sent = 0; sent < REQUESTS; sent += AT_A_TIME) {
      const { answers } = await rawExchange(target, { pieces, answers: AT_A_TIME, closed: false });
      expect(answers).toEqual(Array.from({ length: AT_A_TIME }, () => '200'));
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

it('The service runs if its standard output was closed before it was ready, and ends on SIGTERM', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gannet-unread-'));
  const port = String(await freePort());
  const env = { ...process.env, GANNET_DATA_DIR: dataDir, GANNET_PORT: port };
  const child = spawn(process.execPath, ['bin/gannet.js', 'serve'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(child, 'exit');
  try {
    for (const read of [child.stdout, child.stderr]) read.destroy();
    const status = () =>
      fetch(`http://127.0.0.1:${port}/ready`).then(
        ({ status: answered }) => answered,
        () => 0,
      );
    await expect.poll(status).toBe(200);
    child.kill('SIGTERM');
    const [, signal] = (await ended) as [number | null, NodeJS.Signals | null];
    expect(signal).toBe(null);
  } finally {
    child.kill('SIGKILL');
    await ended;
    rmSync(dataDir, { recursive: true, force: true });
  }
});
