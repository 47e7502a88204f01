/** Tests that a stop that waits, here for the body of a request, ends at once at a second signal. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../support/eventually.js';
import { nextStopSignal } from '../../src/cli/commands/serve.js';
import { startTestService, type TestService } from '../support/service.js';

let service: TestService | undefined;
afterEach(() => service?.close());

it('A second signal ends a waiting stop with status 130, and the log is complete', async () => {
  const running = (service = await startTestService({ env: { GANNET_SERVER_SHUTDOWN_SECONDS: '300' } }));
  expect((await running.client.post('/list/default', { name: 'films' })).status).toBe(201);
  const { hostname, port } = new URL(running.address);
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  await once(socket, 'connect');
  const head = [
    'POST /search-result/default/films/bulk HTTP/1.1',
    'Host: localhost',
    `X-API-Key: ${running.client.key}`,
    'Content-Type: application/x-ndjson',
    'Content-Length: 1000',
  ];
  socket.write(`${head.join('\r\n')}\r\n\r\n{"name":"a"}\n`);
  // Beside the one that reads this: a stop waits for no request that has not arrived.
  await eventually(
    () => running.metric('gannet_http_requests_in_flight'),
    (count) => count === 2,
  );
  process.kill(running.pid, 'SIGTERM');
  await eventually(
    () => Promise.resolve(running.output),
    (output) => output.includes('Stopping: received a signal'),
  );
  // A different signal: the same one soon after is what npm passes on.
  expect(await running.stop('SIGINT')).toBe(130);
  socket.destroy();
});

it("A signal that npm passes on at once after the terminal's counts as the first one", async () => {
  const before = new Set(process.listeners('SIGINT'));
  const ended: number[] = [];
  const stopped = nextStopSignal((status) => ended.push(status));
  const listener = process.listeners('SIGINT').find((each) => !before.has(each));
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    for (const each of process.listeners(signal)) if (each === listener) process.off(signal, each);
  if (listener === undefined) throw new Error('nothing listens');
  const at = (ms: number) => vi.spyOn(performance, 'now').mockReturnValue(ms);
  onTestFinished(() => void vi.restoreAllMocks());
  at(1000);
  listener('SIGINT');
  at(1020);
  listener('SIGINT');
  expect(await stopped).toBe('SIGINT');
  expect(ended).toEqual([]);
  at(2000);
  listener('SIGINT');
  expect(ended).toEqual([130]);
});
