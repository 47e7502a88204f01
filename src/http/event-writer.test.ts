import type { HttpResponse } from 'uWebSockets.js';
import { expect } from 'vitest';
import { itWhere } from '../../test/support/skip.js';
import { hasUWebSockets } from '../../test/support/web-servers.js';
import { EventStream } from '../operations/index.js';
import { writeEvents } from './event-writer.js';
import { loadUWebSockets } from './uws-server.js';

/** The bytes that the library gathers within a turn, including the head. */
const GATHERED_BYTES_MAX = 16_384;
/**
 * A short event, one as long as that limit, and one with characters of several bytes at every place where a part may
 * end.
 */
const EVENTS = ['short', 'x'.repeat(GATHERED_BYTES_MAX), 'aé€😀'.repeat(30_000)].map((text) => `data: ${text}\n\n`);

interface Served {
  readonly address: string;
  /** The bytes that were handed to the library between two moments at which it sends. */
  readonly gathered: readonly number[];
  close(): void;
}

function serveEvents(): Promise<Served> {
  const gathered: number[] = [];
  const uWebSockets = loadUWebSockets();
  const app = uWebSockets.App();
  app.get('/', (res) => {
    watchGathered(res, gathered);
    const stream = new EventStream((client) => {
      // What is sent in the turn of the request is gathered after its head.
      const timer = setTimeout(() => {
        for (const event of EVENTS) client.send(event);
        client.end();
      });
      return () => {
        clearTimeout(timer);
      };
    });
    const gone = writeEvents(res, stream);
    res.onAborted(gone);
  });
  return new Promise((resolve) => {
    app.listen('127.0.0.1', 0, (socket) => {
      if (socket === false) throw new Error('no port is free');
      const close = (): void => {
        uWebSockets.us_listen_socket_close(socket);
      };
      resolve({ address: `http://127.0.0.1:${uWebSockets.us_socket_local_port(socket)}/`, gathered, close });
    });
  });
}

function watchGathered(res: HttpResponse, gathered: number[]): void {
  const write = res.write.bind(res);
  const cork = res.cork.bind(res);
  res.cork = (handler) => {
    gathered.push(0);
    return cork(handler);
  };
  res.write = (chunk) => {
    gathered.push((gathered.pop() ?? 0) + Buffer.byteLength(chunk));
    return write(chunk);
  };
}

itWhere(hasUWebSockets, 'uWebSockets.js has no binary for this machine')(
  'EventWriter hands the library less at once than it gathers, because it loses the rest if the connection is full',
  async () => {
    const served = await serveEvents();
    expect(await (await fetch(served.address)).text()).toBe(EVENTS.join(''));
    served.close();
    expect(served.gathered.length).toBeGreaterThan(EVENTS.length);
    // The length of a chunk and two line ends are added to it.
    expect(Math.max(...served.gathered)).toBeLessThan(GATHERED_BYTES_MAX - 100);
  },
);
