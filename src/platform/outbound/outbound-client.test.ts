/** Tests the client of outgoing connections against servers that behave badly. */
import type { ServerResponse } from 'node:http';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import { ScriptedServer } from '../../../test/support/scripted-server.js';
import { GiveWay, SearchActivity } from '../search-activity.js';
import { conditionalHeaders, validatorsOf } from './conditional.js';
import type { AddressLookup } from './guarded-agent.js';
import { OutboundClient, type OutboundClientOptions, type OutboundRequest } from './outbound-client.js';
import { retryAfterMs } from './retry-after.js';
import { OutboundRefusedError } from './url-policy.js';

/** Reached only by what hangs; tests of time limits set limits of their own. */
const PATIENT_MS = 100_000;
const LIMITS = {
  headersMs: PATIENT_MS,
  idleMs: PATIENT_MS,
  totalMs: PATIENT_MS,
  wireBytesMax: 1_000_000,
  bytesMax: 2_000_000,
};
const OPTIONS: OutboundClientOptions = {
  rules: { allowed_hosts: [], loopback_allowed: true },
  userAgent: 'Test',
  limits: LIMITS,
  connectMs: PATIENT_MS,
  keepAliveMs: 1000,
  connectionsPerHostMax: 3,
  connectionsMax: 5,
  waitingMax: 100,
};
const RETRIES = { attemptsMax: 3, waitMsFirst: 1, waitMsMax: 5000 };

let server: ScriptedServer;
let other: ScriptedServer;
let client: OutboundClient;
const clients: OutboundClient[] = [];
beforeEach(async () => {
  server = await ScriptedServer.start();
  other = await ScriptedServer.start();
  client = clientWith({});
});
afterEach(async () => {
  await Promise.all(clients.splice(0).map((each) => each.close()));
  await Promise.all([server.close(), other.close()]);
});

function clientWith(options: Partial<OutboundClientOptions>): OutboundClient {
  const made = new OutboundClient({ ...OPTIONS, ...options });
  clients.push(made);
  return made;
}

const get = (request: Partial<OutboundRequest> = {}) => client.request({ url: server.url(), ...request });
const failed = (reason: string) => ({ name: 'OutboundFailedError', reason });
const answerWith = (status: number, headers: Record<string, string> = {}, body: string | Buffer = '') => {
  return (_asked: unknown, response: ServerResponse) => response.writeHead(status, headers).end(body);
};
/** Returns a lookup that resolves every name to these addresses. */
const lookupOf =
  (...addresses: string[]): AddressLookup =>
  (_hostname, _options, callback) => {
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };

describe('a client that gives way to searches', () => {
  it('returns a whole body while a search runs if text() reads it, but waits before the pieces of body()', async () => {
    const activity = new SearchActivity();
    activity.begin();
    client = clientWith({ giveWay: new GiveWay(activity.shared, { msMax: 3_600_000 }) });
    server.script = answerWith(200, {}, 'page');
    let isRead = false;
    const text = (await get()).text().finally(() => {
      isRead = true;
    });
    for await (const piece of (await get()).body()) expect(Buffer.from(piece).toString()).toBe('page');
    expect(isRead).toBe(false);
    activity.end();
    expect(await text).toBe('page');
  });
});

describe('a closed client', () => {
  it.each([0, 1])('opens no more connections after %i requests', async (before) => {
    for (let sent = 0; sent < before; sent += 1) await (await get()).bytes();
    await client.close();
    await expect(get()).rejects.toMatchObject(failed('network'));
    expect(server.asked).toHaveLength(before);
  });

  it('ends the request whose connections are being prepared', async () => {
    server.script = () => undefined;
    const request = get();
    const [answered] = await Promise.all([request.catch((error: unknown) => error), client.close()]);
    expect(answered).toMatchObject(failed('network'));
  });
});

describe('bodies', () => {
  it('are decompressed, even twice, and decoded by their charset', async () => {
    const text = 'Straße '.repeat(1000);
    const forms: [string, Buffer][] = [
      ['gzip', gzipSync(text)],
      ['br', brotliCompressSync(text)],
      ['gzip, br', brotliCompressSync(gzipSync(text))],
      ['identity', Buffer.from(text)],
    ];
    for (const [encoding, body] of forms) {
      server.script = answerWith(200, { 'content-encoding': encoding }, body);
      expect(await (await get()).text(), encoding).toBe(text);
    }
    expect(server.asked[0]?.headers).toMatchObject({ 'accept-encoding': 'gzip, br', 'user-agent': 'Test' });
    server.script = answerWith(
      200,
      { 'content-type': 'text/html; charset=ISO-8859-1' },
      Buffer.from('Stra\xdfe', 'latin1'),
    );
    expect(await (await get()).text()).toBe('Straße');
    server.script = answerWith(200, { 'content-type': 'text/html; charset=nonsense' }, 'Straße');
    expect(await (await get()).text()).toBe('Straße');
    server.script = answerWith(200, { 'content-encoding': 'gzip' }, gzipSync(text));
    expect(await (await get({ decompress: false })).bytes()).toEqual(gzipSync(text));
  });

  it.each([
    ['gzip', gzipSync(Buffer.alloc(100_000_000))],
    ['br', brotliCompressSync(Buffer.alloc(100_000_000), { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
    ['gzip, gzip', gzipSync(gzipSync(Buffer.alloc(100_000_000)))],
  ])('are cut off at the limit if they are decompression bombs (%s)', async (encoding, body) => {
    expect(body.length).toBeLessThan(LIMITS.wireBytesMax);
    server.script = answerWith(200, { 'content-encoding': encoding }, body);
    const response = await get();
    let bytes = 0;
    const read = async () => {
      for await (const chunk of response.body()) bytes += chunk.length;
    };
    await expect(read()).rejects.toMatchObject(failed('too-large-decompressed'));
    expect(bytes).toBeLessThanOrEqual(LIMITS.bytesMax);
  });

  it('are cut off at the limit of bytes from the network if they never end', async () => {
    server.script = (_asked, response) => {
      const more = () => {
        if (!response.destroyed) response.write(Buffer.alloc(100_000), () => setImmediate(more));
      };
      more();
    };
    await expect((await get()).bytes()).rejects.toMatchObject(failed('too-large'));
    await eventually(
      () => Promise.resolve(server.underWay),
      (count) => count === 0,
    );
  });

  it('cause errors if they are truncated, garbled or compressed in an unknown way', async () => {
    const whole = gzipSync('x'.repeat(1000) + String(Math.random()));
    server.script = answerWith(200, { 'content-encoding': 'gzip' }, whole.subarray(0, -9));
    await expect((await get()).bytes()).rejects.toMatchObject(failed('bad-answer'));
    server.script = answerWith(200, { 'content-encoding': 'gzip' }, 'not gzip');
    await expect((await get()).bytes()).rejects.toMatchObject(failed('bad-answer'));
    for (const encoding of ['zstd', 'gzip, gzip, gzip', '__proto__']) {
      server.script = answerWith(200, { 'content-encoding': encoding }, 'x');
      await expect(get(), encoding).rejects.toMatchObject(failed('bad-answer'));
    }
    server.script = (_asked, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('half', () => response.destroy());
    };
    await expect((await get()).bytes()).rejects.toMatchObject({ name: 'OutboundFailedError' });
  });

  it('are streamed with requests, and sent again after a redirect that repeats them', async () => {
    const body = async function* () {
      for (const piece of ['a', 'b', 'c']) yield await Promise.resolve(Buffer.from(piece));
    };
    server.script = answerWith(307, { location: other.url('/there') });
    await (await get({ method: 'PUT', body, redirectsMax: 1 })).bytes();
    expect([server.asked[0]?.body, other.asked[0]?.body]).toEqual(['abc', 'abc']);
    expect(other.asked[0]).toMatchObject({ method: 'PUT', path: '/there' });
  });
});

describe('time limits', () => {
  it('apply to headers, to pauses between pieces, and to the whole answer', async () => {
    server.script = () => undefined;
    await expect(get({ limits: { headersMs: 50 } })).rejects.toMatchObject(failed('headers-timeout'));
    await expect(get({ limits: { totalMs: 50 } })).rejects.toMatchObject(failed('total-timeout'));
    server.script = (_asked, response) => void response.write('first');
    await expect((await get({ limits: { idleMs: 50 } })).bytes()).rejects.toMatchObject(failed('idle-timeout'));
    // An answer that drips is never idle.
    server.script = (_asked, response) => {
      const drip = setInterval(() => response.write('.'), 10);
      response.once('close', () => clearInterval(drip));
    };
    const dripping = async () => (await get({ limits: { totalMs: 300, idleMs: 10_000 } })).bytes();
    await expect(dripping()).rejects.toMatchObject(failed('total-timeout'));
  });

  it('apply to connecting, including the lookup of the name', async () => {
    client = clientWith({ connectMs: 50, lookup: () => undefined });
    await expect(get({ url: 'https://silent.example.com/' })).rejects.toMatchObject(failed('connect-timeout'));
  });

  it('are cut short when the caller aborts before the answer, amid its body, or while a retry waits', async () => {
    const left = new Error('left');
    const leaving = (action: (signal: AbortSignal) => Promise<unknown>, when: () => boolean) => {
      const gone = new AbortController();
      const result = action(gone.signal);
      void eventually(() => Promise.resolve(when()), Boolean).then(() => gone.abort(left));
      return result;
    };
    server.script = () => undefined;
    await expect(
      leaving(
        (signal) => get({ signal }),
        () => server.underWay === 1,
      ),
    ).rejects.toBe(left);
    server.script = (_asked, response) => void response.write('first');
    const reading = leaving(
      async (signal) => (await get({ signal })).bytes(),
      () => server.asked.length >= 2,
    );
    await expect(reading).rejects.toBe(left);
    server.script = answerWith(503, { 'retry-after': '4' });
    const waiting = leaving(
      (signal) => get({ signal, retries: RETRIES }),
      () => server.asked.length >= 3,
    );
    await expect(waiting).rejects.toBe(left);
    await expect(get({ signal: AbortSignal.abort(left) })).rejects.toBe(left);
    await eventually(
      () => Promise.resolve(server.underWay),
      (count) => count === 0,
    );
  });
});

describe('redirects', () => {
  it('are returned as answers unless the request asks to follow them', async () => {
    server.script = answerWith(302, { location: other.url() });
    const response = await get();
    expect([response.status, response.headers['location']]).toEqual([302, other.url()]);
    const refused = await get({ redirectsMax: 5, mayFollow: (from, to) => from.host === to.host });
    expect(refused.status).toBe(302);
    expect(other.asked).toEqual([]);
  });

  it('are followed and listed, even relative ones; secrets stay with their origin, and a body with its method', async () => {
    server.script = ({ path }, response) => {
      response
        .writeHead(path === '/a' ? 301 : 303, { location: path === '/a' ? 'b?c=d' : other.url('/e') })
        .end('moved');
    };
    other.script = answerWith(200, {}, 'there');
    const headers = {
      authorization: 'Bearer x',
      cookie: 'c',
      'x-api-key': 'k',
      'content-type': 'text/plain',
      accept: 'a',
    };
    const request = { url: server.url('/a'), redirectsMax: 3, secretHeaders: ['x-api-key'], headers };
    const response = await get({ ...request, method: 'POST', body: 'sent' });
    expect(await response.text()).toBe('there');
    expect(response.url).toBe(other.url('/e'));
    expect(response.redirects).toEqual([
      { status: 301, url: server.url('/a') },
      { status: 303, url: server.url('/b?c=d') },
    ]);
    expect(server.asked[0]).toMatchObject({ method: 'POST', body: 'sent', headers });
    expect(server.asked[1]).toMatchObject({ method: 'GET', body: '', headers: { 'x-api-key': 'k' } });
    expect(other.asked[0]).toMatchObject({ method: 'GET', headers: { accept: 'a' } });
    for (const name of ['authorization', 'cookie', 'x-api-key', 'content-type']) {
      expect(other.asked[0]?.headers[name], name).toBeUndefined();
    }
  });

  it('cause an error if they never end; a body that never ends is not awaited', async () => {
    server.script = ({ path }, response) => {
      response.writeHead(302, { location: `${path}x` });
      response.write('moved');
    };
    await expect(get({ redirectsMax: 4 })).rejects.toMatchObject(failed('too-many-redirects'));
    expect(server.asked).toHaveLength(5);
    await eventually(
      () => Promise.resolve(server.underWay),
      (count) => count === 0,
    );
  });

  it.each([
    'http://10.0.0.1/',
    'https://10.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::ffff:169.254.169.254]/',
    'https://localhost.localdomain/',
    'http://example.com/',
    'https://user:secret@example.com/',
    'file:///etc/passwd',
    'https://2130706433.:0/',
  ])('are refused if they lead to a forbidden URL: %s', async (location) => {
    server.script = answerWith(302, { location });
    await expect(get({ redirectsMax: 3 })).rejects.toThrow(OutboundRefusedError);
  });

  it('are refused if a name resolves to a private address, even if only the second lookup does', async () => {
    server.script = answerWith(302, { location: 'https://public.example.com/' });
    client = clientWith({ lookup: lookupOf('10.0.0.1') });
    await expect(get({ redirectsMax: 3 })).rejects.toThrow(OutboundRefusedError);
    // Good at the first lookup, another address at the second: the connection goes to the address that was checked.
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    let asked = 0;
    const lookup: AddressLookup = (hostname, options, callback) => {
      lookupOf(...(answers[Math.min(asked++, 1)] ?? []))(hostname, options, callback);
    };
    client = clientWith({ lookup });
    server.script = answerWith(302, { location: `https://rebind.example.com:${new URL(other.url()).port}/` });
    await expect(get({ redirectsMax: 3 })).rejects.toMatchObject({ name: 'OutboundFailedError' });
    await expect(get({ redirectsMax: 3 })).rejects.toThrow(OutboundRefusedError);
    expect(asked).toBe(2);
  });
});

describe('retries', () => {
  it('are made after 429 and after a closed connection, no sooner than Retry-After says', async () => {
    let [times, firstMs, secondMs] = [0, 0, 0];
    server.script = (_asked, response) => {
      times += 1;
      if (times === 1) firstMs = performance.now();
      else secondMs = performance.now();
      if (times === 1) response.writeHead(429, { 'retry-after': '1' }).end('busy');
      else if (times === 2) response.destroy();
      else response.end('done');
    };
    expect(await (await get({ retries: RETRIES })).text()).toBe('done');
    expect(times).toBe(3);
    expect(secondMs - firstMs).toBeGreaterThanOrEqual(995);
  });

  it('are not made after a long Retry-After, after other statuses, or if the request does not ask for them', async () => {
    server.script = answerWith(503, { 'retry-after': '86400' });
    const response = await get({ retries: RETRIES });
    expect([response.status, response.retryAfterMs(0)]).toEqual([503, 86_400_000]);
    server.script = answerWith(500);
    await get({ retries: RETRIES });
    server.script = answerWith(503);
    await get();
    expect(server.asked).toHaveLength(3);
    await get({ retries: RETRIES });
    expect(server.asked).toHaveLength(6);
  });
});

describe('conditional requests', () => {
  it('return a 304 without a body if nothing has changed', async () => {
    const headers = { etag: '"v1"', 'last-modified': 'Fri, 20 Nov 2026 10:00:00 GMT' };
    server.script = ({ headers: asked }, response) => {
      if (asked['if-none-match'] === '"v1"') response.writeHead(304).end();
      else response.writeHead(200, headers).end('content');
    };
    const first = await get();
    const validators = validatorsOf(first.headers, Date.UTC(2026, 10, 21));
    expect(validators).toEqual({ etag: '"v1"', lastModified: headers['last-modified'] });
    expect((await get({ validators })).isNotModified).toBe(true);
    expect(server.asked[1]?.headers['if-modified-since']).toBe(headers['last-modified']);
    server.script = answerWith(304);
    await expect(get()).rejects.toMatchObject(failed('bad-answer'));
  });

  it('use only validators that can be sent, and no Last-Modified from the future (property)', () => {
    expect(validatorsOf({ etag: 'W/"a"', 'last-modified': 'Tue, 01 Jan 2041 00:00:00 GMT' }, 0)).toEqual({
      etag: 'W/"a"',
    });
    const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.date({ noInvalidDate: true }).map(String));
    fc.assert(
      fc.property(text, text, (etag, modified) => {
        const sent = conditionalHeaders(validatorsOf({ etag, 'last-modified': modified }, Date.UTC(2026, 0)));
        for (const value of Object.values(sent)) expect(value).not.toMatch(/[\r\n\0]/);
      }),
    );
  });
});

describe('retryAfterMs', () => {
  it('reads seconds and dates, and nothing else (property)', () => {
    const nowMs = Date.UTC(2026, 10, 21, 12);
    expect(retryAfterMs('120', nowMs)).toBe(120_000);
    expect(retryAfterMs('Sat, 21 Nov 2026 12:00:30 GMT', nowMs)).toBe(30_000);
    expect(retryAfterMs('Sat, 21 Nov 2020 12:00:30 GMT', nowMs)).toBe(0);
    for (const nothing of [undefined, '', '-5', '1.5', 'soon', '99999999999999999999']) {
      expect(retryAfterMs(nothing, nowMs), nothing).toBeUndefined();
    }
    fc.assert(fc.property(fc.string(), (text) => (retryAfterMs(text, nowMs) ?? 0) >= 0));
  });
});

describe('connections', () => {
  it('are limited for each host and in total; requests beyond the limit of waiting ones are rejected', async () => {
    const answers: (() => void)[] = [];
    let togetherMax = 0;
    const script = (_asked: unknown, response: ServerResponse) => {
      togetherMax = Math.max(togetherMax, server.underWay + other.underWay);
      answers.push(() => response.end('x'));
    };
    server.script = other.script = script;
    client = clientWith({ waitingMax: 10 });
    const calls = Array.from({ length: 8 }, async (_, number) =>
      (await get({ url: number % 2 === 0 ? server.url() : other.url() })).text(),
    );
    const more = Array.from({ length: 20 }, () => get());
    const refused = await Promise.allSettled(more.slice(7));
    expect(refused.every((each) => each.status === 'rejected' && each.reason.reason === 'too-many-waiting')).toBe(true);
    const all = Promise.all([...calls, ...more.slice(0, 7).map(async (each) => (await each).text())]);
    let isDone = false;
    void all.then(() => (isDone = true));
    // No answer is sent before there are as many connections as there may be.
    while (togetherMax < 5) await new Promise((resolve) => setTimeout(resolve, 1));
    while (!isDone) {
      for (const answer of answers.splice(0)) answer();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(server.underWayMax).toBe(3);
    expect(other.underWayMax).toBeLessThanOrEqual(3);
    expect(togetherMax).toBe(5);
    expect(server.asked.length + other.asked.length).toBe(15);
  });

  it('are freed when an answer is discarded, and by the time limit if nobody reads it', async () => {
    server.script = (_asked, response) => void response.write('first');
    for (let each = 0; each < 10; each += 1) (await get()).discard();
    for (let unread = 0; unread < 3;) {
      // If the machine stalls for a second, the headers of the answer may be late, too.
      const answered = await get({ limits: { totalMs: 1000 } }).catch((error: unknown) => error);
      if (answered instanceof Error) expect(answered).toMatchObject(failed('total-timeout'));
      else unread += 1;
    }
    for (let each = 0; each < 3; each += 1) (await get()).discard();
    // Each request that was answered; those that were given up may have reached the server, too.
    expect(server.asked.length).toBeGreaterThanOrEqual(16);
  });
});

describe('an answer without a body', () => {
  it.each([
    ['GET', 204],
    ['GET', 205],
    ['GET', 304],
    ['HEAD', 200],
  ] as const)(
    'to %s with %i ends with its headers, and its connection serves the next request',
    async (method, status) => {
      const ports = new Set<number | undefined>();
      server.script = (_asked, response) => {
        ports.add(response.socket?.remotePort);
        response.writeHead(status, { 'x-said': ['a', 'b'] }).end();
      };
      client = clientWith({ connectionsPerHostMax: 1, keepAliveMs: PATIENT_MS });
      for (let each = 0; each < 5; each += 1) {
        const response = await get({ method, validators: { etag: '"x"' } });
        expect([response.status, response.headers['x-said'], (await response.bytes()).length]).toEqual([
          status,
          'a, b',
          0,
        ]);
      }
      // undici closes the connection of a HEAD.
      expect(ports.size).toBe(method === 'HEAD' ? 5 : 1);
    },
  );

  it('is awaited if informational answers come before it', async () => {
    server.script = (_asked, response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' }, () => response.writeHead(304).end());
    };
    expect((await get({ validators: { etag: '"x"' } })).status).toBe(304);
  });
});

describe('a request that is aborted before it has a connection', () => {
  it('rejects at once and frees its place for the next', async () => {
    const looked: (() => void)[] = [];
    client = clientWith({
      connectionsPerHostMax: 1,
      lookup: (hostname, options, callback) =>
        void looked.push(() => lookupOf('127.0.0.1')(hostname, options, callback)),
    });
    const url = `https://slow.example.com:${new URL(server.url()).port}/`;
    const gone = new AbortController();
    const asked = get({ url, signal: gone.signal });
    await eventually(
      () => Promise.resolve(looked.length),
      (count) => count === 1,
    );
    const left = new Error('left');
    gone.abort(left);
    await expect(asked).rejects.toBe(left);
    const next = get({ url });
    looked[0]?.();
    // The server speaks HTTP: the connection is made and then broken.
    await expect(next).rejects.toMatchObject(failed('network'));
  });
});

describe('anything that comes from the network', () => {
  it('becomes an answer or an error, and leaves the client working (fuzz)', async () => {
    const line = fc.constantFrom(
      ...[
        'HTTP/1.1 200 OK\r\n',
        'HTTP/1.1 301 M\r\n',
        'HTTP/1.1 999\r\n',
        'HTTP/9.9 200 OK\r\n',
        '\r\n',
        '\n',
        'GET / HTTP/1.1\r\n',
      ],
      ...[
        'Content-Length: 3\r\n',
        'Content-Length: -1\r\n',
        'Transfer-Encoding: chunked\r\n',
        'Content-Encoding: gzip\r\n',
      ],
      ...[
        'Location: /x\r\n',
        'Location: //\r\n',
        'Location: http://[\r\n',
        'X: \0\r\n',
        '5\r\nabcde\r\n',
        '0\r\n\r\n',
        'fffffffff\r\n',
        'abc',
      ],
    );
    const piece = fc.oneof({ weight: 4, arbitrary: line }, { weight: 1, arbitrary: fc.string({ unit: 'binary' }) });
    let said: readonly string[] = [];
    const raw = createServer((socket: Socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(said.join(''), 'latin1'));
    });
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(raw.address() as AddressInfo).port}/`;
    const known = /^Outbound(?:Failed|Refused)Error$/;
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 12 }), async (pieces) => {
        said = pieces;
        try {
          const response = await client.request({ url, redirectsMax: 2, limits: { totalMs: 2000 } });
          await response.bytes();
        } catch (error) {
          expect((error as Error).name).toMatch(known);
        }
      }),
      { numRuns: 300 },
    );
    await new Promise((resolve) => raw.close(resolve));
    server.script = answerWith(200, {}, 'well');
    for (let each = 0; each < 10; each += 1) expect(await (await get()).text()).toBe('well');
  });
});
