import { Agent } from 'node:http';
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { closeDesk, desk, JSON_HEADER, openDesk, problem, send } from '../../test/support/front-end.js';
import { describeWebServers } from '../../test/support/web-servers.js';
import type { Reservation } from '../platform/index.js';

describeWebServers((webServer) => {
  beforeEach(() => openDesk(webServer));
  afterEach(closeDesk);

  describe('answers', () => {
    it('pass input to the operation and its result back', async () => {
      const answer = await send('POST', '/echo/caf%C3%A9?flag=TRUE', {
        headers: JSON_HEADER,
        body: '{"text":"näive"}',
      });
      expect(answer.status).toBe(200);
      expect(answer.json).toEqual({ params: { name: 'café' }, query: { flag: true }, body: { text: 'näive' } });
      expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'server-timing': 'worker;dur=1' });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    });

    it('repeat a valid request id, and have a new one otherwise', async () => {
      expect((await send('GET', '/health', { headers: { 'X-Request-Id': 'trace-1/2' } })).headers['x-request-id']).toBe(
        'trace-1/2',
      );
      for (const bad of ['a b', 'x'.repeat(200), '<script>']) {
        expect((await send('GET', '/health', { headers: { 'X-Request-Id': bad } })).headers['x-request-id']).toMatch(
          /^[0-9a-f-]{36}$/,
        );
      }
    });

    it('to HEAD are like those to GET, without the body', async () => {
      const head = await send('HEAD', '/health');
      expect(head).toMatchObject({ status: 200, text: '' });
      expect(head.headers['content-length']).toBe(String('{"status":"ok"}'.length));
    });

    it('with status 204 have no body', async () => {
      const answer = await send('DELETE', '/echo/x');
      expect(answer).toMatchObject({ status: 204, text: '' });
      expect(answer.headers['content-type']).toBeUndefined();
    });

    it('of large size are sent completely, to slow clients as well', async () => {
      expect((await send('GET', '/large')).text).toHaveLength(20_000_000);
    });

    it('name the unknown path, and the methods that a path allows', async () => {
      expect(await send('GET', '/nothing')).toMatchObject(problem('not-found', 404));
      const wrong = await send('PUT', '/echo/x', { headers: JSON_HEADER, body: '{}' });
      expect(wrong).toMatchObject(problem('method-not-allowed', 405));
      expect(wrong.headers.allow).toBe('DELETE, OPTIONS, POST');
      expect(wrong.headers['content-type']).toBe('application/problem+json');
      expect(await send('OPTIONS', '/echo/x')).toMatchObject({
        status: 204,
        headers: { allow: 'DELETE, OPTIONS, POST' },
      });
    });

    it('need a key, except for public operations', async () => {
      for (const header of ['', 'gnt_eu_wrong', 'x'.repeat(5000)]) {
        expect(await send('GET', '/slow', { headers: { 'X-API-Key': header } })).toMatchObject(
          problem('invalid-key', 401),
        );
      }
      for (const path of ['/health', '/ready', '/metrics', '/openapi.json']) {
        expect((await send('GET', path, { headers: { 'X-API-Key': '' } })).status).toBe(200);
      }
    });

    it('hide details of an unexpected error, which is logged', async () => {
      const answer = await send('GET', '/fail', { headers: { 'X-Request-Id': 'find-me' } });
      expect(answer).toMatchObject(problem('internal-error', 500));
      expect(answer.text).toContain('find-me');
      expect(answer.text).not.toContain('secret');
      expect(desk.logged).toContain('secret internals');
    });

    it('are logged in one line each, without key, path and query string', async () => {
      await send('POST', '/echo/hidden-path?flag=true', { headers: JSON_HEADER, body: '{"text":"hidden-body"}' });
      const lines = desk.logged.trim().split('\n');
      expect(lines).toHaveLength(1);
      const line = JSON.parse(lines[0] ?? '') as Record<string, unknown>;
      expect(line).toMatchObject({
        key: 'tester',
        account: 'default',
        operation: 'test.echo',
        method: 'POST',
        status: 200,
      });
      for (const secret of [desk.key, desk.key.slice(8, 20), 'hidden', 'flag'])
        expect(desk.logged).not.toContain(secret);
    });

    it('are not-ready for all but public operations until the service is ready', async () => {
      desk.ready = false;
      expect(await send('GET', '/slow')).toMatchObject({
        ...problem('not-ready', 503),
        headers: { 'retry-after': '1' },
      });
      expect((await send('GET', '/ready')).status).toBe(503);
      expect((await send('GET', '/health')).status).toBe(200);
    });
  });

  describe('bodies', () => {
    const echo = (body: string | Buffer | readonly Buffer[], headers: Record<string, string | number> = JSON_HEADER) =>
      send('POST', '/echo/x', { headers, body });

    it('are read chunked and plain', async () => {
      expect((await echo([Buffer.from('{"text":'), Buffer.from('"a"}')])).status).toBe(200);
      expect((await echo('{"text":"a"}')).status).toBe(200);
    });

    it('are read in whatever parts they come, and given up if the client leaves in between', async () => {
      const body = '{"text":"näive"}';
      const bytes = Buffer.from(body);
      const head = `POST /echo/x HTTP/1.1\r\nHost: x\r\nX-API-Key: ${desk.key}\r\nContent-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`;
      const socket = connect({ port: desk.port, host: '127.0.0.1', noDelay: true });
      let answers = '';
      socket.on('data', (data) => (answers += data.toString()));
      for (let cut = 0; cut < bytes.length; cut += 1) {
        socket.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, cut)]));
        // The server waits for the rest of the body.
        await expect.poll(() => desk.requestMemory.bodies.usedBytes).toBe(bytes.length);
        socket.write(bytes.subarray(cut));
        await expect.poll(() => answers.split(JSON.stringify({ text: 'näive' })).length - 1).toBe(cut + 1);
        expect(desk.requestMemory.bodies.usedBytes).toBe(0);
      }
      socket.write(Buffer.concat([Buffer.from(head), bytes.subarray(0, 3)]));
      await expect.poll(() => desk.requestMemory.bodies.usedBytes).toBe(bytes.length);
      socket.destroy();
      await expect.poll(() => desk.logged).toContain('"status":499');
      expect(desk.requestMemory.bodies.usedBytes).toBe(0);
    });

    it('are refused with the position if they are not valid JSON', async () => {
      expect(await echo('{"text":\n "a",}')).toMatchObject({
        json: { code: 'malformed-json', detail: expect.stringContaining('line 2, column 6') as string },
      });
      expect(await echo(Buffer.from([0x22, 0xff, 0x22]))).toMatchObject(problem('malformed-json', 400));
      expect(await echo('{"text":"a","text":"b"}')).toMatchObject(problem('malformed-json', 400));
      expect(await echo('{"__proto__":{}}')).toMatchObject(problem('malformed-json', 400));
      expect(await echo('')).toMatchObject(problem('invalid-parameter', 400));
      expect(await echo('{"text":"a"}', { 'Content-Type': 'text/plain' })).toMatchObject(
        problem('unsupported-media-type', 415),
      );
      expect(await echo('{"text":"a"}', {})).toMatchObject(problem('unsupported-media-type', 415));
    });

    it('get an error that names every fault and what was probably meant', async () => {
      const answer = await send('POST', '/echo/x?flog=1', { headers: JSON_HEADER, body: '{"txt":1,"size":1.5}' });
      expect(answer).toMatchObject(problem('invalid-parameter', 400));
      expect((answer.json as { errors: unknown[] }).errors).toEqual([
        { parameter: 'flog', detail: "Unknown option 'flog'. Did you mean 'flag'?" },
        { pointer: '/text', detail: 'Must be given.' },
        { pointer: '/txt', detail: "Unknown member 'txt'. Did you mean 'text'?" },
        { pointer: '/size', detail: 'Must be an integer, not 1.5.' },
      ]);
    });

    it('are refused if the operation takes none', async () => {
      expect(
        await send('DELETE', '/echo/x', { headers: { ...JSON_HEADER, 'Content-Length': 2 }, body: '{}' }),
      ).toMatchObject(problem('invalid-parameter', 400));
    });

    it('are refused without keeping them if the operation takes none, and the connection stays usable', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const body = Buffer.alloc(10_485_760);
      for (const headers of [{ 'X-API-Key': '' }, {}]) {
        const refused = await send('GET', '/health', {
          agent,
          headers: { ...headers, 'Content-Length': body.length },
          body,
        });
        expect(refused).toMatchObject(problem('invalid-parameter', 400));
      }
      expect(desk.requestMemory.bodies.usedBytes).toBe(0);
      expect((await send('GET', '/health', { agent })).status).toBe(200);
      agent.destroy();
    });

    it('are accepted if empty and chunked although the operation takes none', async () => {
      const pieces = { 'Transfer-Encoding': 'chunked' };
      expect((await send('DELETE', '/echo/x', { headers: pieces, body: [] })).status).toBe(204);
      expect(await send('DELETE', '/echo/x', { headers: pieces, body: [Buffer.from('x')] })).toMatchObject(
        problem('invalid-parameter', 400),
      );
    });

    it('have a limit for each operation, below that of the settings', async () => {
      expect(
        (await send('POST', '/little', { headers: JSON_HEADER, body: `{"text":"${'x'.repeat(88)}"}` })).status,
      ).toBe(200);
      expect(
        await send('POST', '/little', { headers: JSON_HEADER, body: `{"text":"${'x'.repeat(100)}"}` }),
      ).toMatchObject(problem('body-too-large', 413));
    });

    it('wait for memory that others use, and release their own', async () => {
      const { bodies } = desk.requestMemory;
      const taken: Reservation[] = [];
      for (let next; (next = bodies.tryReserve(1024)) !== undefined;) taken.push(next);
      const waiting = echo('{"text":"a"}');
      await expect.poll(() => desk.requestMemory.bodies.waiting).toBe(1);
      for (const each of taken) each.release();
      expect((await waiting).status).toBe(200);
      expect(desk.requestMemory.bodies.usedBytes).toBe(0);
    });

    it('are refused beyond the limit when announced, or as soon as they exceed it', async () => {
      expect(await echo(Buffer.alloc(2000))).toMatchObject(problem('body-too-large', 413));
      expect(await echo([Buffer.alloc(900), Buffer.alloc(900)])).toMatchObject(problem('body-too-large', 413));
      // None of the body is ever sent: without this answer the test would not end.
      const early = await new Promise<string>((resolve) => {
        const socket = connect(desk.port, '127.0.0.1', () => {
          socket.write(
            `POST /echo/x HTTP/1.1\r\nHost: x\r\nX-API-Key: ${desk.key}\r\nContent-Type: application/json\r\nContent-Length: 999999\r\n\r\n`,
          );
        });
        socket.on('data', (data) => {
          resolve(data.toString());
          socket.destroy();
        });
      });
      expect(early).toContain('413');
    });

    it('are not read if the key is wrong, and the connection stays usable', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const refused = await send('POST', '/echo/x', {
        agent,
        headers: { ...JSON_HEADER, 'X-API-Key': 'no' },
        body: '{"bad',
      });
      expect(refused).toMatchObject(problem('invalid-key', 401));
      expect((await send('POST', '/echo/x', { agent, headers: JSON_HEADER, body: '{"text":"a"}' })).status).toBe(200);
      agent.destroy();
    });
  });
});
