/** Tests what the client of all tests does with its connections if the service, or the test itself, is held up. */
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, it, vi } from 'vitest';
import { ServiceClient } from './client.js';

const held: ServerResponse[] = [];
const server = createServer((asked, answer) => {
  if (asked.url === '/slow') held.push(answer);
  else answer.end('{}');
});
afterAll(() => {
  vi.restoreAllMocks();
  server.closeAllConnections();
  server.close();
});

it('The client sends no request on a connection that it drops because the last answer took long', async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = new ServiceClient(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, undefined);
  let nowMs = 1000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  const slow = client.get('/slow');
  await vi.waitFor(() => {
    expect(held).toHaveLength(1);
  });
  nowMs += 4500;
  await client.get('/quick');
  held[0]?.end('{}');
  expect((await slow).status).toBe(200);
  // This connection is the last of those that wait, and the oldest by the time of its request.
  await new Promise((resolve) => setImmediate(resolve));
  expect((await client.get('/next')).status).toBe(200);
});
