/**
 * Tests what HTTP allows and what it does not, byte by byte: each row is one connection. What the HTTP library
 * decides by itself, before the service sees the request, is tested as well, so that a change of it is noticed;
 * docs/http.md has the same list.
 */
import { connect, type NetConnectOpts } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.js';
import { rawExchange, type RawOptions } from '../support/raw-http.js';
import { ScriptedServer } from '../support/scripted-server.js';
import { startTestService, type TestService } from '../support/service.js';
import { hasUWebSockets } from '../support/web-servers.js';

/** The library's parser in its build for Node.js 20; builds for later versions refuse more, and sooner. */
const IS_KNOWN_LIBRARY = process.versions.modules === '115';

const ALLOWED = { GANNET_OUTBOUND_LOOPBACK_ALLOWED: 'true' };

let service: TestService;
let key: string;
let ofNode: TestService;
let keyOfNode: string;
beforeAll(async () => {
  service = await startTestService({ env: { ...ALLOWED, GANNET_SERVER_WEB_SERVER: 'auto' } });
  ({ key } = await service.createKey({ access: 'full' }));
  ofNode = await startTestService({ env: { ...ALLOWED, GANNET_SERVER_WEB_SERVER: 'node' } });
  ({ key: keyOfNode } = await ofNode.createKey({ access: 'full' }));
});
afterAll(() => Promise.all([service.close(), ofNode.close()]));

/** `closed`: the connection is closed as well. `nothing`: there is no answer at all. */
type Outcome = readonly [answers: string, closed?: 'closed'];

interface Row {
  /** `{key}` stands for the headers Host and X-API-Key, `{list}` for a request body that creates a list of its own. */
  readonly pieces: RawOptions['pieces'];
  readonly http: Outcome;
  /** The outcome on the control socket; undefined: as over HTTP. */
  readonly control?: Outcome;
  /** The outcome with Node.js's own server for HTTP; undefined: as on the control socket, which has the same parser. */
  readonly node?: Outcome;
  /** The library answers, or closes the connection, by itself. */
  readonly byLibrary?: true;
  /** Earlier releases of Node.js, whose parser the control socket has, accept it. */
  readonly byNode?: true;
  readonly halfClosed?: true;
}

/** `node`: HTTP through Node.js's own server. */
const DOORS = ['http', 'node', 'control'] as const;
type Door = (typeof DOORS)[number];

const HEALTH = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n';
const get = (headers: string, path = '/health') => [`GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`];
const create = (headers: string, body = '{list}') => [
  `POST /list/default HTTP/1.1\r\n{key}Content-Type: application/json\r\n${headers}\r\n${body}`,
];
const chunked = (body = '{list}') => `{length}\r\n${body}\r\n0\r\n\r\n`;
const smuggled =
  'POST /list/default HTTP/1.1\r\n{key}Content-Type: application/json\r\nContent-Length: {bytes}\r\n\r\n{list}';
const NOTHING: Outcome = ['nothing', 'closed'];
const BAD: Outcome = ['400 problem', 'closed'];
const BAD_PAGE: Outcome = ['400 html', 'closed'];
const VERSION_PAGE: Outcome = ['505 html', 'closed'];

const rows: Record<string, Row> = {
  'a request': { pieces: [HEALTH], http: ['200'] },
  'a body': { pieces: create('Content-Length: {bytes}\r\n'), http: ['201'] },
  'a chunked body': { pieces: create('Transfer-Encoding: chunked\r\n', chunked()), http: ['201'] },
  'a coding in capitals': { pieces: create('Transfer-Encoding: CHUNKED\r\n', chunked()), http: ['201'] },

  'a body that is said to be compressed': {
    pieces: create('Content-Encoding: gzip\r\nContent-Length: {bytes}\r\n'),
    http: ['415 problem'],
  },
  'a body of the coding that changes nothing': {
    pieces: create('Content-Encoding: identity\r\nContent-Length: {bytes}\r\n'),
    http: ['201'],
  },
  'a file that is said to be compressed': {
    pieces: ['PUT /media/default/default/a.txt HTTP/1.1\r\n{key}Content-Encoding: br\r\nContent-Length: 2\r\n\r\nab'],
    http: ['415 problem'],
  },

  'two lengths': { pieces: create('Content-Length: {bytes}\r\nContent-Length: 5\r\n'), http: BAD },
  'two lengths, the short one first': { pieces: create('Content-Length: 5\r\nContent-Length: {bytes}\r\n'), http: BAD },
  'the same length twice': {
    pieces: create('Content-Length: {bytes}\r\nContent-Length: {bytes}\r\n'),
    http: ['201'],
    control: BAD,
  },
  'a list of lengths': { pieces: create('Content-Length: 5, 5\r\n'), http: BAD_PAGE, control: BAD, byLibrary: true },
  'a length with a sign': { pieces: create('Content-Length: +5\r\n'), http: BAD_PAGE, control: BAD, byLibrary: true },
  'a negative length': { pieces: create('Content-Length: -5\r\n'), http: BAD_PAGE, control: BAD, byLibrary: true },
  'a length in hexadecimal': {
    pieces: create('Content-Length: 0x5\r\n'),
    http: BAD_PAGE,
    control: BAD,
    byLibrary: true,
  },
  'a length of 20 digits': {
    pieces: create('Content-Length: 99999999999999999999\r\n'),
    http: BAD_PAGE,
    control: BAD,
    byLibrary: true,
  },

  'an unknown coding': { pieces: create('Transfer-Encoding: gzip\r\n', chunked()), http: BAD },
  'an unknown coding, and a body of it': { pieces: create('Transfer-Encoding: gzip\r\n'), http: BAD },
  'a coding before chunked': {
    pieces: create('Transfer-Encoding: gzip, chunked\r\n', chunked()),
    http: BAD,
  },
  'a coding like chunked': { pieces: create('Transfer-Encoding: xchunked\r\n', chunked()), http: BAD },
  'chunked twice': {
    pieces: create('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', chunked()),
    http: BAD,
  },
  'length and coding': {
    pieces: create('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', chunked()),
    http: BAD_PAGE,
    control: BAD,
    byLibrary: true,
  },
  'a length and an empty coding': { pieces: create('Transfer-Encoding:\r\nContent-Length: {bytes}\r\n'), http: BAD },
  'a blank before the colon': {
    pieces: create('Transfer-Encoding : chunked\r\n', chunked()),
    http: NOTHING,
    control: BAD,
    byLibrary: true,
  },
  'a chunk without a size': {
    pieces: create('Transfer-Encoding: chunked\r\n', 'zz\r\n{list}\r\n0\r\n\r\n'),
    http: BAD_PAGE,
    control: BAD,
    byLibrary: true,
  },
  'a chunk of a negative size': {
    pieces: create('Transfer-Encoding: chunked\r\n', '-5\r\n{list}\r\n0\r\n\r\n'),
    http: BAD_PAGE,
    control: BAD,
    byLibrary: true,
  },
  trailers: {
    pieces: create('Transfer-Encoding: chunked\r\nTrailer: X-A\r\n', '{length}\r\n{list}\r\n0\r\nX-A: b\r\n\r\n'),
    http: BAD,
    node: BAD,
    control: ['201'],
  },

  'a smuggled request behind two lengths': {
    pieces: create('Content-Length: 0\r\nContent-Length: 44\r\n', smuggled),
    http: BAD,
  },
  'a smuggled request behind length and coding': {
    pieces: create('Content-Length: 45\r\nTransfer-Encoding: chunked\r\n', `0\r\n\r\n${smuggled}`),
    http: BAD_PAGE,
    control: BAD,
    byLibrary: true,
  },
  'a smuggled request behind two codings': {
    pieces: create('Transfer-Encoding: chunked\r\nTransfer-Encoding: cow\r\n', `0\r\n\r\n${smuggled}`),
    http: BAD,
  },
  'a smuggled request behind a coding with a control character': {
    pieces: create('Transfer-Encoding: \u000bchunked\r\n', `0\r\n\r\n${smuggled}`),
    http: NOTHING,
    control: BAD,
    byLibrary: true,
  },

  'three requests that are answered at once': {
    pieces: [`${HEALTH}${get('', '/nope').join('')}${HEALTH}`],
    http: ['200, 404 problem, 200'],
  },
  'requests of which the last is worked on': { pieces: [`${HEALTH}${smuggled}`], http: ['200, 201'] },
  'a request behind one that is worked on': {
    pieces: [`${smuggled}${HEALTH}`],
    http: NOTHING,
    control: ['201, 200'],
    byLibrary: true,
  },
  'a request behind the answer': { pieces: [smuggled, { afterAnswers: 1 }, HEALTH], http: ['201, 200'] },
  'a body where none belongs, and a request behind it': {
    pieces: [`GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc${HEALTH}`],
    http: ['400 problem, 200'],
  },

  'no headers': { pieces: ['GET /health HTTP/1.1\r\n\r\n'], http: NOTHING, control: BAD, byLibrary: true },
  'no Host': { pieces: ['GET /health HTTP/1.1\r\nA: b\r\n\r\n'], http: BAD_PAGE, control: BAD, byLibrary: true },
  'an empty Host': { pieces: ['GET /health HTTP/1.1\r\nHost:\r\n\r\n'], http: ['200'], byLibrary: true },
  'two Hosts': { pieces: get('Host: y\r\n'), http: ['200'], byLibrary: true },
  '90 headers': { pieces: get('A: b\r\n'.repeat(90)), http: ['200'] },
  'a second key, of which the first counts': {
    pieces: ['GET /list/default HTTP/1.1\r\n{key}X-API-Key: gnt_eu_another\r\n\r\n'],
    http: ['200'],
  },
  'a key behind 2,100 headers': {
    pieces: [`GET /list/default HTTP/1.1\r\n${'A: b\r\n'.repeat(2100)}{key}\r\n`],
    http: NOTHING,
    node: ['200'],
    control: ['200'],
    byLibrary: true,
  },
  '110 headers': { pieces: get('A: b\r\n'.repeat(110)), http: NOTHING, control: ['200'], byLibrary: true },
  'a header of 20 KB': {
    pieces: get(`A: ${'a'.repeat(20_000)}\r\n`),
    http: ['200'],
    node: ['200'],
    control: ['431 problem', 'closed'],
  },
  // The network may bring it in one piece after all.
  'a header of 20 KB in two pieces': {
    pieces: [
      `GET /health HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(10_000)}`,
      { afterMs: 100 },
      `${'a'.repeat(10_000)}\r\n\r\n`,
    ],
    http: ['200'],
    node: ['200'],
    control: ['431 problem', 'closed'],
  },
  'a folded header': { pieces: get('A: b\r\n c\r\n'), http: NOTHING, control: BAD, byLibrary: true },
  'a NUL in a header': { pieces: get('A: b\u0000c\r\n'), http: NOTHING, control: BAD, byLibrary: true },
  'a control character in a header': { pieces: get('A: b\u0001c\r\n'), http: NOTHING, control: BAD, byLibrary: true },
  'a bare CR in a header': { pieces: get('A: b\rc\r\n'), http: NOTHING, control: BAD, byLibrary: true },
  'a blank in the name of a header': {
    pieces: get('A b: c\r\n'),
    http: NOTHING,
    control: BAD,
    byLibrary: true,
    byNode: true,
  },
  'lines that end with LF': {
    pieces: ['GET /health HTTP/1.1\nHost: x\n\n'],
    http: VERSION_PAGE,
    control: BAD,
    byLibrary: true,
  },
  'blank lines before a request': { pieces: [`\r\n\r\n${HEALTH}`], http: NOTHING, control: ['200'], byLibrary: true },

  'an absolute URL': {
    pieces: ['GET http://x/health HTTP/1.1\r\nHost: x\r\n\r\n'],
    http: VERSION_PAGE,
    control: ['404 problem'],
    byLibrary: true,
  },
  'a URL without a slash': {
    pieces: ['GET health HTTP/1.1\r\nHost: x\r\n\r\n'],
    http: VERSION_PAGE,
    control: BAD,
    byLibrary: true,
  },
  'a URL of 17 KB': {
    pieces: get('', `/health?${'a'.repeat(17_000)}`),
    http: ['414 problem'],
    node: ['414 problem'],
    control: ['431 problem', 'closed'],
  },
  'a URL of 15 KB': { pieces: get('', `/health?${'a'.repeat(15_000)}`), http: ['400 problem'] },
  'a NUL in the URL': { pieces: get('', '/health\u0000'), http: VERSION_PAGE, control: BAD, byLibrary: true },
  'bytes that are no ASCII in the URL': {
    pieces: get('', '/h\u00e9'),
    http: ['404 problem'],
    control: BAD,
    byNode: true,
  },

  'a method in lower case': { pieces: ['get /health HTTP/1.1\r\nHost: x\r\n\r\n'], http: ['200'], control: BAD },
  'an unknown method': { pieces: ['BREW /health HTTP/1.1\r\nHost: x\r\n\r\n'], http: ['405 problem'], control: BAD },
  TRACE: { pieces: ['TRACE /health HTTP/1.1\r\nHost: x\r\n\r\n'], http: ['405 problem'] },
  CONNECT: {
    pieces: ['CONNECT x:80 HTTP/1.1\r\nHost: x\r\n\r\n'],
    http: VERSION_PAGE,
    control: ['405 problem', 'closed'],
    byLibrary: true,
  },
  'OPTIONS of a path': { pieces: ['OPTIONS /health HTTP/1.1\r\nHost: x\r\n\r\n'], http: ['204'] },
  'OPTIONS *': {
    pieces: ['OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n'],
    http: VERSION_PAGE,
    control: ['404 problem'],
    byLibrary: true,
  },
  'HTTP/1.0': {
    pieces: ['GET /health HTTP/1.0\r\nHost: x\r\n\r\n'],
    http: VERSION_PAGE,
    control: ['200', 'closed'],
    byLibrary: true,
  },
  'HTTP/2 by prior knowledge': {
    pieces: ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    http: VERSION_PAGE,
    control: BAD,
    byLibrary: true,
  },
  'an upgrade to HTTP/2': {
    pieces: get('Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n'),
    http: ['200'],
  },
  'an upgrade to a WebSocket': {
    pieces: get(
      'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n',
    ),
    http: ['200'],
  },
  'TLS instead of HTTP': {
    pieces: ['\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\u00fc\u0003\u0003'],
    http: VERSION_PAGE,
    control: BAD,
    byLibrary: true,
  },
  'Connection: close': { pieces: get('Connection: close\r\n'), http: ['200', 'closed'] },
  'Expect: 100-continue': {
    pieces: [
      'POST /list/default HTTP/1.1\r\n{key}Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: {bytes}\r\n\r\n',
      { afterAnswers: 1 },
      '{list}',
    ],
    http: ['100, 201'],
  },
  'another expectation': { pieces: create('Expect: a-miracle\r\nContent-Length: {bytes}\r\n'), http: ['201'] },
  'a client that sends no more, and waits for an answer at once': {
    pieces: [HEALTH],
    http: ['200', 'closed'],
    halfClosed: true,
  },
};

/** Fills in the names of lists that rows create: one for each row and door, so that none gets in the way of another. */
function filled(row: Row, list: string, door: Door): RawOptions['pieces'] {
  const body = JSON.stringify({ name: list });
  return row.pieces.map((piece) =>
    typeof piece !== 'string'
      ? piece
      : piece
          .replaceAll('{key}', `Host: x\r\nX-API-Key: ${keyOf(door)}\r\n`)
          .replaceAll('{list}', body)
          .replaceAll('{bytes}', String(body.length))
          .replaceAll('{length}', body.length.toString(16)),
  );
}

const serviceOf = (door: Door) => (door === 'node' ? ofNode : service);
const keyOf = (door: Door) => (door === 'node' ? keyOfNode : key);

function targetOf(door: Door): NetConnectOpts {
  if (door === 'control') return { path: join(service.dataDir, 'control.sock') };
  const { hostname, port } = new URL(serviceOf(door).address);
  return { host: hostname, port: Number(port) };
}

function expectedOf({ http, control = http, node = control }: Row, door: Door): Outcome {
  // Where uWebSockets.js has no binary, Node.js's own server serves HTTP.
  return { http: hasUWebSockets ? http : node, control, node }[door];
}

async function outcomeOf(row: Row, [answers, closed]: Outcome, list: string, door: Door): Promise<Outcome> {
  const result = await rawExchange(targetOf(door), {
    pieces: filled(row, list, door),
    answers: answers === 'nothing' ? 0 : answers.split(', ').length,
    closed: closed === 'closed',
    ...(row.halfClosed === undefined ? {} : { halfClosed: row.halfClosed }),
  });
  const seen = result.answers.length === 0 ? 'nothing' : result.answers.join(', ');
  return result.closed ? [seen, 'closed'] : [seen];
}

/** Says whether the request was refused, in whatever way another build of the library does that. */
function isRefused([answers]: Outcome): boolean {
  return answers === 'nothing' || /^[45]/.test(answers);
}

describe.concurrent.each(DOORS)('requests through %s', (door) => {
  it.each(Object.entries(rows))('%s', async (name, row) => {
    const expected = expectedOf(row, door);
    const list = `${door}-${Object.keys(rows).indexOf(name)}`;
    const seen = await outcomeOf(row, expected, list, door);
    if (door === 'http' && hasUWebSockets && row.byLibrary === true && !IS_KNOWN_LIBRARY) {
      expect(isRefused(seen) || isRefused(expected) === isRefused(seen)).toBe(true);
    } else if (!(door === 'http' && hasUWebSockets) && row.byNode === true) {
      expect(seen[0]).toMatch(/^(?:200|40[04] problem)$/);
    } else {
      expect(seen).toEqual(expected);
    }
    // A refused request has had no effect, nor has a smuggled one.
    const made = await serviceOf(door).control().get(`/list/default/${list}`);
    if (/400|431|505/.test(seen[0])) expect(made.status).toBe(404);
    if (/201/.test(seen[0])) expect(made.status).toBe(200);
  });
});

/** Begins a request whose work ends when the test says so: the service asks a website which pages it has. */
async function askedFor(door: Door) {
  const site = await ScriptedServer.start();
  const held: (() => void)[] = [];
  site.script = (_asked, response) => void held.push(() => response.writeHead(404).end());
  const body = JSON.stringify({ settings: { start_urls: [site.url()] } });
  const socket = connect({ ...targetOf(door), allowHalfOpen: true } as NetConnectOpts).setEncoding('latin1');
  let text = '';
  socket.on('data', (chunk: string) => (text += chunk));
  // A reset closes the connection as well.
  const closed = new Promise<void>((resolve) => socket.once('end', resolve).once('error', () => resolve()));
  const head = `POST /feed/default/web/discover HTTP/1.1\r\nHost: x\r\nX-API-Key: ${keyOf(door)}\r\nContent-Type: application/json\r\n`;
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
  // Not `expect.poll`, which belongs to one test: several run side by side.
  await eventually(
    () => Promise.resolve(held.length),
    (count) => count > 0,
  );
  const answerIt = () => {
    site.script = (_asked, response) => response.writeHead(404).end();
    for (const answer of held) answer();
  };
  return { site, socket, closed, answerIt, answered: () => text };
}

describe.concurrent.each(DOORS)('a client of %s that waits for its answer', (door) => {
  it('gets the answer while it keeps its side of the connection open', async () => {
    const { site, socket, answerIt, answered } = await askedFor(door);
    expect(answered()).toBe('');
    answerIt();
    const answer = await eventually(
      () => Promise.resolve(answered()),
      (text) => text !== '',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /);
    socket.destroy();
    await site.close();
  });

  it('gets none after it has closed its side: the connection is closed', async () => {
    const { site, socket, closed, answered } = await askedFor(door);
    socket.end();
    await closed;
    expect(answered()).toBe('');
    socket.destroy();
    await site.close();
  });
});

describe.concurrent('a URL of 98 KB', () => {
  // In one piece it reaches the service, with the library for Node.js 20; the network decides into how many pieces it
  // is cut.
  it('is refused, by the service itself if it comes in one piece', async () => {
    const pieces = get('', `/health?${'a'.repeat(98_000)}`);
    const { hostname, port } = new URL(service.address);
    const result = await rawExchange({ host: hostname, port: Number(port) }, { pieces, answers: 1, closed: false });
    expect(['414 problem', '431 html', '431 problem', '505 html']).toContain(result.answers.join());
  });
});

describe.concurrent('a body that comes slowly', () => {
  let strict: TestService;
  beforeAll(async () => {
    strict = await startTestService({ env: { GANNET_SERVER_BODY_IDLE_SECONDS_MAX: '1' } });
    await strict.client.post('/list/default', { name: 'films' });
  });
  afterAll(() => strict.close());

  it('is accepted, however slowly, as long as more of it comes', async () => {
    const record = '{"name":"slow"}\n';
    const pieces = [
      `POST /search-result/default/films/bulk HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Type: application/x-ndjson\r\nContent-Length: ${record.length}\r\n\r\n{`,
      // Longer than the library's own timeout, which ends after 8 to 12 s.
      { afterMs: 14_000 },
      record.slice(1),
    ];
    await service.control().post('/list/default', { name: 'films' });
    const { hostname, port } = new URL(service.address);
    const result = await rawExchange(
      { host: hostname, port: Number(port) },
      {
        pieces: pieces.map((piece) => (typeof piece === 'string' ? piece.replace('{key}', key) : piece)),
        answers: 1,
        closed: false,
      },
    );
    expect(result.answers).toEqual(['200']);
    expect(result.text).toContain('"created":1');
  });

  it.each([
    ['whole', '/list/default', 'application/json'],
    ['as a stream', '/search-result/default/films/bulk', 'application/x-ndjson'],
  ])('is answered 408 if nothing more of it comes (read %s)', async (_how, path, type) => {
    const { key: own } = await strict.createKey({ access: 'full' });
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${own}\r\nContent-Type: ${type}\r\nContent-Length: 100\r\n\r\n{`;
    const { port } = new URL(strict.address);
    const target = { host: '127.0.0.1', port: Number(port) };
    const result = await rawExchange(target, { pieces: [head], answers: 1, closed: true });
    expect(result).toMatchObject({ answers: ['408 problem'], closed: true });
    expect(result.text).toContain('body-too-slow');
  });
});

it('A connection whose streamed body was refused is closed if nothing more comes', async () => {
  await service.control().post('/list/default', { name: 'left-open' });
  const head = `POST /search-result/default/left-open/bulk HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\n`;
  const pieces = [head, '{"name":"a"}\n'];
  const told = '415 problem';
  // The library used to take the timeout from the connection when the body ended, after the answer.
  const left = await rawExchange(targetOf('http'), { pieces, answers: 1, closed: true });
  expect(left).toMatchObject({ answers: [told], closed: true });
  const again = await rawExchange(targetOf('http'), { pieces: [...pieces, HEALTH], answers: 2, closed: false });
  expect(again.answers).toEqual([told, '200']);
  // The answer does not wait for a body that does not come.
  const without = await rawExchange(targetOf('http'), { pieces: [head], answers: 1, closed: false });
  expect(without.answers).toEqual([told]);
});
