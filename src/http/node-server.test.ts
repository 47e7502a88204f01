import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { ConnectionRoom } from './connection-room.js';
import { createNodeServer } from './node-server.js';
import type { WireResponse } from './wire.js';

it('createNodeServer reports a client that left to all its requests, even those waiting behind another one', async () => {
  const taken: WireResponse[] = [];
  const aborted: string[] = [];
  const server = createNodeServer({
    host: '127.0.0.1',
    port: 0,
    connections: new ConnectionRoom(() => undefined),
    onRequest: (res, req) => {
      const url = req.getUrl();
      res.onAborted(() => aborted.push(url));
      taken.push(res);
    },
  });
  const port = await server.listen();
  const socket = connect(port, '127.0.0.1');
  socket.write(['/first', '/second', '/third'].map((path) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).join(''));
  await expect.poll(() => taken.length).toBe(3);
  // This answer is complete and waits for its turn to be sent.
  taken[2]?.end(Buffer.from('complete'));
  socket.destroy();
  await expect.poll(() => aborted).toEqual(['/first', '/second']);
  server.close();
});
