import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { ConnectionLost, createClient, operation, ServiceProblem, targetOf, type OperationRoute } from './transport.js';

const ROUTE: OperationRoute = {
  name: 'list.read',
  method: 'POST',
  path: '/list/{account}/{list}',
  body: 'json',
  permission: null,
};
const read = operation<{ params: object; query?: object; body: unknown }, unknown>(ROUTE);

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function clientOf(answer: RequestListener) {
  server = createServer(answer);
  const listening = server;
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve));
  const base = `http://127.0.0.1:${(listening.address() as AddressInfo).port}`;
  return createClient({ base, headers: () => ({ 'X-CSRF-Token': 'token' }) });
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const input = {
  params: { account: 'default', list: 'a b' },
  query: { size: 3, fields: ['a', 'b'] },
  body: { query: 'x' },
};

describe('the client of the API', () => {
  it('sends the input of an operation and returns its answer', async () => {
    const client = await clientOf((request, response) => {
      void textOf(request).then((body) => {
        response.setHeader('Content-Type', 'application/json');
        response.end(JSON.stringify({ url: request.url, token: request.headers['x-csrf-token'], body }));
      });
    });
    expect(await read(client, input)).toEqual({
      url: '/list/default/a%20b?size=3&fields=a%2Cb',
      token: 'token',
      body: '{"query":"x"}',
    });
  });

  it('rejects with the problem that the service answers', async () => {
    const client = await clientOf((_, response) => {
      response.writeHead(429, { 'Content-Type': 'application/problem+json' });
      response.end(JSON.stringify({ code: 'rate-limited', detail: 'Later.', retry_after_seconds: 7 }));
    });
    const failure = await read(client, input).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ServiceProblem);
    expect(failure).toMatchObject({ status: 429, code: 'rate-limited', message: 'Later.', retryAfterSeconds: 7 });
  });

  it('distinguishes a lost connection from a refusal', async () => {
    const client = await clientOf((request) => request.socket.destroy());
    await expect(read(client, input)).rejects.toBeInstanceOf(ConnectionLost);
    const cut = await clientOf((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.end('{"results": [');
    });
    await expect(read(cut, input)).rejects.toBeInstanceOf(ConnectionLost);
  });

  it('rejects with the reason of the abort', async () => {
    const client = await clientOf(() => undefined);
    const gone = new AbortController();
    const reading = read(client, input, { signal: gone.signal });
    gone.abort(new Error('left the page'));
    await expect(reading).rejects.toThrow('left the page');
  });

  it('keeps any text of a parameter within its segment of the path', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (list) => {
        const path = targetOf(ROUTE, { params: { account: 'a', list } });
        const [, first, second, third, ...rest] = path.split('/');
        expect([first, second, rest]).toEqual(['list', 'a', []]);
        expect(decodeURIComponent(third ?? '')).toBe(list);
      }),
    );
    expect(() => targetOf(ROUTE, { params: { account: 'a' } })).toThrow("list.read needs the parameter 'list'");
  });
});
