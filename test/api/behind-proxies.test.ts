/**
 * Tests the service behind reverse proxies set up as in the files in `config`, with TLS, by a client that reaches
 * only the proxy.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { certificateFault, makeCertificate } from '../support/certificate.js';
import { eventually } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';
import { PROXIES, type ProxyKind } from '../support/proxies.js';
import { startTestService, type TestService } from '../support/service.js';
import { describeWhere } from '../support/skip.js';

interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable;
  /** The address that the client calls the proxy from. */
  readonly localAddress?: string;
  /** Called with each piece of the answer as it arrives. */
  readonly onPiece?: (piece: string, leave: () => void) => void;
}

let folder: string;
let service: TestService;
let key: string;
let port: number;
let agent: Agent;

const fault = certificateFault();

beforeAll(async () => {
  if (fault !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'gannet-behind-proxies-'));
  port = await freePort();
  const servicePort = String(await freePort());
  const origin = `https://localhost:${port}`;
  service = await startTestService({
    env: { GANNET_PORT: servicePort, GANNET_SERVER_TRUSTED_PROXIES: '127.0.0.1', GANNET_CONSOLE_PUBLIC_URL: origin },
  });
  ({ key } = await service.createKey({ access: 'full' }));
  const { certificatePath } = makeCertificate(folder);
  agent = new Agent({ keepAlive: true, ca: readFileSync(certificatePath), servername: 'localhost' });
});
afterAll(async () => {
  if (fault !== undefined) return;
  agent.destroy();
  await service.close();
  rmSync(folder, { recursive: true, force: true });
});

for (const [index, kind] of PROXIES.entries()) {
  const missing = fault ?? kind.fault;
  describeWhere(missing === undefined, missing ?? '')(`behind ${kind.name}`, () => behind(kind, index));
}

function behind({ name, downStatus, start }: ProxyKind, index: number): void {
  const list = name.toLowerCase();
  let close: () => Promise<void>;

  beforeAll(async () => {
    const own = join(folder, list);
    mkdirSync(own);
    const certificate = { certificatePath: join(folder, 'cert.pem'), keyPath: join(folder, 'key.pem') };
    close = await start({ folder: own, certificate, service: new URL(service.address).host, port });
    await service.client.post('/list/default', { name: list, searchable_fields: [{ name: 'title' }] });
    // Waits until the proxy takes connections.
    await eventually(
      () =>
        send('/health').then(
          ({ status }) => status,
          () => 0,
        ),
      (status) => status === 200,
    );
  });
  afterAll(async () => {
    await close();
    agent.destroy();
  });

  const ndjson = { 'Content-Type': 'application/x-ndjson' };
  const records = (count: number, title: string) =>
    Readable.from(
      (function* () {
        for (let index = 0; index < count; index += 1) yield `${JSON.stringify({ name: `b${index}`, title })}\n`;
      })(),
    );

  it("streams an import that is larger than the proxy's own limit, and its records are found", async () => {
    const title = `gannet ${'dives for fish and folds its wings '.repeat(30)}`;
    const imported = await send(`/search-result/default/${list}/bulk`, {
      method: 'POST',
      headers: ndjson,
      body: records(5000, title),
    });
    expect([imported.status, imported.text.slice(0, 300)]).toEqual([200, expect.stringContaining('5000') as string]);
    const found = await send(`/search/default/${list}/1?query=gannet&size=1`);
    expect(JSON.parse(found.text)).toMatchObject({ total_count: 5000 });
  });

  it('passes on a URL of the greatest length whole', async () => {
    const query = `gannet ${'x'.repeat(16_000)}`;
    const long = await send(`/search/default/${list}/1?query=${encodeURIComponent(query)}`);
    const beside = await service.client.get(`/search/default/${list}/1?query=${encodeURIComponent(query)}`);
    expect([long.status, beside.status]).toEqual([beside.status, beside.status]);
    expect(JSON.parse(long.text)).toMatchObject({ code: (beside.body as { code?: string }).code });
    const short = `/search/default/${list}/1?query=gannet&filter=${encodeURIComponent(`@name = 'b1' or ${`@name = 'b2' or `.repeat(300)}@name = 'b3'`)}`;
    expect(short.length).toBeGreaterThan(8000);
    expect((await send(short)).status).toBe((await service.client.get(short)).status);
  });

  it('passes on progress events as they come', async () => {
    const pieces: string[] = [];
    const reply = await send('/progress/default/events', {
      onPiece(piece, leave) {
        pieces.push(piece);
        if (pieces.length === 1)
          void send(`/search-result/default/${list}/bulk`, {
            method: 'POST',
            headers: ndjson,
            body: records(20_000, 'a'),
          });
        if (pieces.join('').includes('"import"')) leave();
      },
    });
    expect(reply.headers['content-type']).toBe('text/event-stream');
  });

  it('passes on the refusal of a body that nobody reads to its end', async () => {
    const refused = await send('/search-result/default/none/bulk', {
      method: 'POST',
      headers: ndjson,
      body: records(20_000, 'x'.repeat(200)),
    });
    expect([refused.status, refused.headers['content-type']]).toEqual([404, 'application/problem+json']);
  });

  it('passes on the addresses of clients, so that failed sign-ins from one do not block another', async () => {
    let tries = 0;
    const signIn = async (localAddress: string): Promise<number> => {
      tries += 1;
      const body = Readable.from([
        JSON.stringify({ email: `a${tries}@example.com`, password: 'not the one that it is' }),
      ]);
      const headers = { 'Content-Type': 'application/json', 'Sec-Fetch-Site': 'same-origin' };
      return (await send('/session', { method: 'POST', headers, body, localAddress })).status;
    };
    const statuses: number[] = [];
    while (statuses.at(-1) !== 429 && tries < 200) statuses.push(await signIn(`127.0.0.${2 + 2 * index}`));
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(await signIn(`127.0.0.${3 + 2 * index}`)).toBe(401);
  });

  it('serves the pages of the console, but not the metrics', async () => {
    const page = await send('/console/');
    expect([page.status, page.headers['content-type']]).toEqual([200, expect.stringContaining('text/html') as string]);
    expect((await send('/metrics')).status).toBe(404);
  });

  it('answers again after a restart of the service', async () => {
    await service.stop();
    expect((await send('/health')).status).toBe(downStatus);
    await service.start();
    await eventually(
      () => send(`/search/default/${list}/1?query=gannet`).then(({ status }) => status),
      (status) => status === 200,
    );
  });
}

function send(
  path: string,
  { method = 'GET', headers = {}, body, localAddress = '127.0.0.1', onPiece }: Sent = {},
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const where = { host: '127.0.0.1', port, localAddress, agent };
    const options = {
      ...where,
      path,
      method,
      headers: { Host: `localhost:${port}`, ...(path === '/session' ? {} : { 'X-API-Key': key }), ...headers },
    };
    const sent = request(options, (answer) => {
      const { statusCode: status = 0, headers: answered } = answer;
      if (onPiece === undefined) {
        text(answer).then((whole) => {
          resolve({ status, headers: answered, text: whole });
        }, reject);
        return;
      }
      answer.setEncoding('utf8').on('data', (piece: string) => {
        onPiece(piece, () => {
          sent.destroy();
          resolve({ status, headers: answered, text: '' });
        });
      });
    });
    sent.on('error', reject);
    if (body === undefined) sent.end();
    else body.pipe(sent);
  });
}
