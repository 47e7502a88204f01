import { Agent } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeDesk, desk, JSON_HEADER, NDJSON_HEADER, openDesk, problem, send } from '../../test/support/front-end.js';
import { describeWebServers } from '../../test/support/web-servers.js';
import { Patience } from '../../test/support/patience.js';
import { ConnectionRoom } from './connection-room.js';
import { ListenError } from './listening.js';
import { createHttpServer } from './server.js';
import { webServerOf } from './web-server.js';

describeWebServers((webServer) => {
  beforeEach(() => openDesk(webServer));
  afterEach(closeDesk);

  describe('streams', () => {
    it('arrive complete', async () => {
      const body = Array.from({ length: 40 }, () => Buffer.alloc(500_000, 0x31));
      expect((await send('POST', '/stream', { headers: NDJSON_HEADER, body })).json).toEqual({ bytes: 20_000_000 });
      const length = { 'Content-Length': 20_000_000 };
      expect((await send('POST', '/stream', { headers: { ...NDJSON_HEADER, ...length }, body })).json).toEqual({
        bytes: 20_000_000,
      });
    });

    it('pause the client until the operation reads them', async () => {
      let open = (): void => undefined;
      desk.gate = new Promise((resolve) => (open = resolve));
      const body = Buffer.alloc(48_000_000, 0x31);
      let written = false;
      const answer = new Promise<string>((resolve) => {
        const socket = connect(desk.port, '127.0.0.1', () => {
          socket.write(
            `POST /stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${desk.key}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${body.length}\r\n\r\n`,
          );
          socket.write(body, () => (written = true));
        });
        socket.on('data', (data) => {
          resolve(data.toString());
          socket.destroy();
        });
      });
      await sleep(500);
      expect(written).toBe(false);
      expect(desk.received.bytes).toBe(0);
      open();
      expect(await answer).toContain('"bytes":48000000');
      await expect.poll(() => written).toBe(true);
    });

    it('that are paused, or ended during a pause, are answered however long the operation takes', async () => {
      let open = (): void => undefined;
      desk.gate = new Promise((resolve) => (open = resolve));
      const piece = Buffer.concat([Buffer.from('2710\r\n'), Buffer.alloc(10_000, 0x31), Buffer.from('\r\n')]);
      const head = `POST /stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${desk.key}\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n`;
      const uploads = [60, 100].map((pieces) => {
        const upload = { answer: '', isClosed: false };
        const body = [Buffer.from(head), ...Array.from({ length: pieces }, () => piece), Buffer.from('0\r\n\r\n')];
        const socket = connect(desk.port, '127.0.0.1', () => socket.write(Buffer.concat(body)));
        socket
          .on('data', (data) => {
            upload.answer += String(data);
            socket.destroy();
          })
          .on('error', () => undefined)
          .on('close', () => (upload.isClosed = true));
        return upload;
      });
      // The library's own timeout has passed when it closes a connection that sends nothing.
      for (let count = 0; count < 2; count += 1)
        await new Promise((resolve) => connect(desk.port, '127.0.0.1').on('close', resolve).resume());
      for (const { answer, isClosed } of uploads) expect([answer, isClosed]).toEqual(['', false]);
      open();
      for (const upload of uploads) await expect.poll(() => upload.answer).toMatch(/"bytes":\d+/);
    });

    it('end in an error when the client leaves', async () => {
      const socket = connect(desk.port, '127.0.0.1', () => {
        socket.write(
          `POST /stream HTTP/1.1\r\nHost: x\r\nX-API-Key: ${desk.key}\r\nContent-Type: application/x-ndjson\r\nContent-Length: 1000\r\n\r\nabc`,
        );
      });
      await expect.poll(() => desk.received.bytes).toBe(3);
      socket.destroy();
      await expect.poll(() => desk.received.error).toMatchObject({ name: 'ClientGone' });
      await expect.poll(() => desk.logged).toContain('"status":499');
    });

    it('are refused beyond the limit, of the wrong type, or by the operation, while they are being sent', async () => {
      const large = Array.from({ length: 110 }, () => Buffer.alloc(500_000));
      expect((await send('POST', '/stream', { headers: NDJSON_HEADER, body: large })).status).toBe(413);
      expect(await send('POST', '/stream', { headers: JSON_HEADER, body: '{}' })).toMatchObject(
        problem('unsupported-media-type', 415),
      );
      expect(await send('POST', '/refuse', { headers: NDJSON_HEADER, body: 'a\n' })).toMatchObject({
        ...problem('conflict', 409),
        headers: { 'retry-after': '7' },
      });
    });
  });

  describe('clients that leave', () => {
    it('abort the signal of their request', async () => {
      desk.gate = new Promise(() => undefined);
      const socket = connect(desk.port, '127.0.0.1', () => {
        socket.write(`GET /slow HTTP/1.1\r\nHost: x\r\nX-API-Key: ${desk.key}\r\n\r\n`);
      });
      await expect.poll(() => desk.slowStarted).toBe(1);
      socket.destroy();
      await expect.poll(() => desk.received.bytes).toBe(-1);
      expect((await send('GET', '/health')).status).toBe(200);
    });
  });

  describe('stopping', () => {
    it('completes requests in progress and refuses new ones', async () => {
      let open = (): void => undefined;
      desk.gate = new Promise((resolve) => (open = resolve));
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      await send('GET', '/health', { agent });
      const slow = send('GET', '/slow');
      await expect.poll(() => desk.slowStarted).toBe(1);
      desk.server.stopListening();
      const drained = desk.requests.drain(60_000);
      const refused = await send('GET', '/health', { agent });
      expect(refused).toMatchObject({ ...problem('shutting-down', 503), headers: { connection: 'close' } });
      open();
      await drained;
      const closed = desk.server.close(60_000);
      expect(await slow).toMatchObject({ status: 200, json: { done: true } });
      await closed;
      await expect(send('GET', '/health')).rejects.toThrow(/ECONNREFUSED|hang up/);
      agent.destroy();
    });

    it('ends after the given time, even if a request does not', async () => {
      desk.gate = new Promise(() => undefined);
      const slow = send('GET', '/slow').catch((error: unknown) => (error as Error).message);
      await expect.poll(() => desk.slowStarted).toBe(1);
      // The request would wait for ever, and so would these calls without their limits.
      await desk.requests.drain(200);
      await desk.server.close(100);
      expect(await slow).toMatch(/hang up|ECONNRESET/);
    });

    it('does not wait for a client that was refused, sends nothing more and stays connected', async () => {
      let answer = '';
      const socket = connect(desk.port, '127.0.0.1', () => {
        socket.write('POST /nothing/here HTTP/1.1\r\nHost: x\r\nContent-Length: 300000000\r\n\r\nabc');
      });
      socket.on('data', (data) => (answer += String(data)));
      await expect.poll(() => answer).toContain('404 Not Found');
      // The library would end the connection after 8 to 12 s, but this process may be halted for some of it.
      const patience = new Patience(7000);
      let isClosed = false;
      const closing = desk.server.close(60_000).finally(() => (isClosed = true));
      while (!isClosed && !patience.isOver()) await sleep(10);
      expect(isClosed).toBe(true);
      await closing;
      socket.destroy();
    });
  });

  describe('listening', () => {
    it('fails with a ListenError if the port is in use', async () => {
      const second = createHttpServer({
        carriedBy: webServerOf(webServer, pino({ level: 'silent' })),
        handle: desk.requests.handle,
        host: '127.0.0.1',
        port: desk.port,
        answers: desk.requestMemory.answers,
        bodyIdleMsMax: 60_000,
        visitors: { publicUrl: '', trustedProxies: [] },
        connections: new ConnectionRoom(() => undefined),
      });
      await expect(second.listen()).rejects.toThrow(ListenError);
    });
  });

  describe('the control socket', () => {
    it('serves the same operations without a key', async () => {
      const answer = await send('POST', '/echo/x', {
        socketPath: desk.controlPath,
        headers: JSON_HEADER,
        body: '{"text":"a"}',
      });
      expect(answer.json).toMatchObject({ body: { text: 'a' } });
      expect(
        await send('POST', '/echo/x', { socketPath: desk.controlPath, headers: JSON_HEADER, body: '{' }),
      ).toMatchObject(problem('malformed-json', 400));
      const body = Array.from({ length: 10 }, () => Buffer.alloc(100_000));
      expect(
        (await send('POST', '/stream', { socketPath: desk.controlPath, headers: NDJSON_HEADER, body })).json,
      ).toEqual({
        bytes: 1_000_000,
      });
      expect((await send('HEAD', '/health', { socketPath: desk.controlPath })).text).toBe('');
    });

    it('answers clients that are still sending instead of closing their connection', async () => {
      const large = Array.from({ length: 110 }, () => Buffer.alloc(500_000));
      for (const [path, expected] of [
        ['/stream', problem('body-too-large', 413)],
        ['/refuse', problem('conflict', 409)],
      ] as const) {
        const answer = await send('POST', path, { socketPath: desk.controlPath, headers: NDJSON_HEADER, body: large });
        expect(answer).toMatchObject(expected);
      }
    });
  });
});
