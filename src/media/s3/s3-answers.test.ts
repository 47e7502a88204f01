/** An S3 server that answers wrongly: the store reports it as unusable, and loses nothing. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../../test/support/eventually.js';
import { ScriptedServer, type Asked } from '../../../test/support/scripted-server.js';
import { Secret } from '../../platform/index.js';
import { OutboundClient } from '../../platform/outbound/outbound-client.js';
import type { ByteRange, Upload } from '../media-store.js';
import { steadyPieces } from './s3-answers.js';
import { S3Client } from './s3-client.js';
import { S3Store } from './s3-store.js';
import { PART_BYTES } from './s3-upload.js';

const MS = 20_000;
const UNAVAILABLE = { code: 'store-unavailable' };

let server: ScriptedServer;
let client: OutboundClient;
let store: S3Store;
let openStore: () => S3Store;
let partsFolder: string;

beforeEach(async () => {
  server = await ScriptedServer.start();
  client = new OutboundClient({
    rules: { allowed_hosts: [], loopback_allowed: true },
    userAgent: 'tests',
    limits: { headersMs: MS, idleMs: MS, totalMs: MS, wireBytesMax: 1e9, bytesMax: 1e9 },
    connectMs: MS,
    keepAliveMs: 1000,
    connectionsPerHostMax: 8,
    connectionsMax: 8,
    waitingMax: 100,
  });
  const access = { access_key_id: 'AKIATEST', secret_access_key: '' };
  const endpoint = server.url('').replace(/\/$/, '');
  const settings = { kind: 's3', endpoint, region: 'us-east-1', bucket: 'bucket', prefix: 'in/', ...access } as const;
  partsFolder = mkdtempSync(join(tmpdir(), 'gannet-parts-'));
  openStore = () =>
    new S3Store({
      client: new S3Client({ client, settings, secret: () => new Secret('secret') }),
      prefix: settings.prefix,
      events: { uploaded: () => undefined, deleted: () => undefined },
      partsFolder,
    });
  store = openStore();
});

afterEach(async () => {
  rmSync(partsFolder, { recursive: true });
  await client.close();
  await server.close();
});

function listing(keys: readonly string[], hasMore: boolean, more = '<EncodingType>url</EncodingType>'): string {
  const objects = keys.map((key) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`).join('');
  return `<ListBucketResult><IsTruncated>${hasMore}</IsTruncated>${more}${objects}</ListBucketResult>`;
}

/** Answers each listing with the next of these, and repeats the last one. */
function lists(...answers: readonly string[]): void {
  let place = 0;
  server.script = (_asked, response) => response.end(answers[Math.min(place++, answers.length - 1)]);
}

const page = (size: number, after = '', prefix = '') => store.list({ prefix, after, size });
const pathsOf = async (...asked: Parameters<typeof page>) => (await page(...asked)).files.map(({ path }) => path);

describe('a listing of a bucket', () => {
  it('fails if each page begins again, instead of running without end', async () => {
    // A server that does not continue a listing answers so; folders alone do not count as progress.
    lists(listing(['in/a/', 'in/b/'], true));
    await expect(page(10)).rejects.toMatchObject(UNAVAILABLE);
    lists(listing(['in/a', 'in/b'], true));
    expect(await pathsOf(2)).toEqual(['a', 'b']);
    await expect(page(2, 'b')).rejects.toMatchObject(UNAVAILABLE);
    expect(server.asked.length).toBeLessThan(10);
  });

  it('in another order is accepted if complete, and refused if the next page would miss files', async () => {
    lists(listing(['in/b', 'in/a'], false));
    expect(await pathsOf(10)).toEqual(['a', 'b']);
    lists(listing(['in/b', 'in/a'], true));
    await expect(page(2)).rejects.toMatchObject(UNAVAILABLE);
  });

  it('has names as they are if the server does not encode them', async () => {
    lists(listing(['in/100% +.pdf'], false, ''));
    expect(await pathsOf(10)).toEqual(['100% +.pdf']);
    lists(listing(['in/100%25+%2B.pdf'], false));
    expect(await pathsOf(10)).toEqual(['100% +.pdf']);
    lists(listing(['in/100% +.pdf'], false));
    await expect(page(10)).rejects.toMatchObject(UNAVAILABLE);
  });

  it('with more files than requested continues after the requested ones', async () => {
    lists(listing(['in/a', 'in/b', 'in/c'], false));
    expect(await page(2)).toMatchObject({ files: [{ path: 'a' }, { path: 'b' }], hasMore: true });
  });

  it('of invalid names ends after a limited number of requests, which ask for many names at a time', async () => {
    let number = 0;
    server.script = (_asked, response) => response.end(listing([`in/a//${1e6 + (number += 1)}`], true));
    await expect(page(1)).rejects.toMatchObject(UNAVAILABLE);
    expect(server.asked.length).toBe(1000);
    expect(server.asked.map(({ path }) => /max-keys=(\d+)/.exec(path)?.[1]).slice(0, 3)).toEqual(['1', '1000', '1000']);
  });

  it('ends between two requests of a page if it is aborted', async () => {
    const left = new AbortController();
    let number = 0;
    server.script = (_asked, response) => {
      number += 1;
      if (number === 3) left.abort(new Error('left'));
      response.end(listing([`in/a//${1e6 + number}`], true));
    };
    await expect(store.list({ prefix: '', after: '', size: 1, signal: left.signal })).rejects.toThrow('left');
    expect(server.asked.length).toBe(3);
  });

  it.each([
    ['that lead elsewhere', ['in/../../etc/passwd', 'in/./a', 'in//a']],
    ['with a character that ends a name', ['in/a%00b']],
    ['far longer than any', [`in/${'x'.repeat(50_000)}`]],
  ])('leaves out names %s', async (_, names) => {
    lists(listing([...names, 'in/z'], false));
    expect(await pathsOf(10)).toEqual(['z']);
  });

  it.each([
    ['of another place', listing(['out/secret'], false)],
    ['below another prefix', listing(['in/other'], false)],
    ['without lengths', listing(['in/some/a'], false).replace('<Size>1</Size>', '')],
  ])('fails if it has files %s', async (_, answer) => {
    lists(answer);
    await expect(page(10, '', 'some/')).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('an answer of the server', () => {
  const contents = '<Contents><Key>in/a</Key><Size>1</Size></Contents>';

  it.each([
    ['a listing without end', '<x>', `${'x'.repeat(100)}\n`],
    ['files without end', '', contents],
    ['elements within each other without end', '', '<a>'],
  ])('with %s is given up, however much would follow', async (_, begin, piece) => {
    const much = piece.repeat(65_536 / piece.length);
    let isClosed = false;
    server.script = (_asked, response) => {
      response.on('close', () => (isClosed = true));
      response.write(listing([], false).replace('</ListBucketResult>', begin));
      const more = () => {
        while (!isClosed && response.write(much));
      };
      response.on('drain', more);
      more();
    };
    await expect(page(1)).rejects.toMatchObject(UNAVAILABLE);
    await eventually(
      () => Promise.resolve(isClosed),
      (closed) => closed,
    );
  });

  it.each([
    ['deeper than any', `${'<a>'.repeat(20)}${'</a>'.repeat(20)}`],
    ['of more elements than one file has', '<a/>'.repeat(1000)],
  ])('fails if it is %s', async (_, more) => {
    lists(listing([], false, more));
    await expect(page(1)).rejects.toMatchObject(UNAVAILABLE);
  });

  it('may have names of JavaScript, its own entities and blanks in keys', async () => {
    const answer = listing(
      ['in/ a &amp; &#98;&own;'],
      false,
      '<__proto__><Contents/></__proto__><toString>x</toString>',
    );
    lists(`<?xml version="1.0"?><!DOCTYPE l [<!ENTITY own "c">]>${answer}`);
    expect(await pathsOf(10)).toEqual([' a & b&own;']);
  });
});

type Answer = (asked: Asked, response: ServerResponse) => void;

function answers(head: Record<string, string>, get: Answer): void {
  server.script = (asked, response) => {
    if (asked.method === 'HEAD') response.writeHead(200, head).end();
    else get(asked, response);
  };
}

const HEAD = { etag: '"one"', 'content-length': '4' };

async function read(range?: ByteRange): Promise<string> {
  const opened = await store.open('a');
  const pieces: Uint8Array[] = [];
  for await (const piece of opened?.pieces(range) ?? []) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

describe('a file in a bucket', () => {
  it('is read as the server announced it', async () => {
    answers(HEAD, (_asked, response) => response.writeHead(200, HEAD).end('abcd'));
    expect(await read()).toBe('abcd');
    const part = { etag: '"one"', 'content-range': 'bytes 1-2/4' };
    answers(HEAD, (_asked, response) => response.writeHead(206, part).end('bc'));
    expect(await read({ begin: 1, end: 3 })).toBe('bc');
  });

  it.each([
    ['of another ETag', 200, { etag: '"two"' }, 'abcd', undefined],
    ['that is shorter', 200, {}, 'abc', undefined],
    ['that is longer', 200, {}, 'abcde', undefined],
    ['of which all comes for a part', 200, {}, 'abcd', { begin: 1, end: 3 }],
    ['of which another part comes', 206, { 'content-range': 'bytes 0-1/4' }, 'ab', { begin: 1, end: 3 }],
    ['of which a part comes for all', 206, { 'content-range': 'bytes 0-3/4' }, 'abcd', undefined],
  ])('fails if its content is one %s', async (_, status, headers, body, range) => {
    answers(HEAD, (_asked, response) => response.writeHead(status, headers).end(body));
    await expect(read(range)).rejects.toMatchObject(UNAVAILABLE);
  });

  it.each([
    ['length', { etag: '"one"', 'transfer-encoding': 'chunked' }],
    ['ETag', { 'content-length': '4' }],
  ])('fails if the server does not tell its %s, instead of counting as missing', async (_, head) => {
    answers(head, (_asked, response) => response.end('abcd'));
    await expect(read()).rejects.toMatchObject(UNAVAILABLE);
  });

  it('does not count as missing if its bucket is', async () => {
    const missing = (code: string) => {
      server.script = ({ method }, response) =>
        response.writeHead(404).end(method === 'HEAD' ? '' : `<Error><Code>${code}</Code></Error>`);
    };
    missing('NoSuchKey');
    expect(await store.open('a')).toBeUndefined();
    missing('NoSuchBucket');
    await expect(store.open('a')).rejects.toMatchObject(UNAVAILABLE);
    await expect(store.stat('a')).rejects.toMatchObject(UNAVAILABLE);
  });

  it('is not uploaded in parts if the server answers no upload id', async () => {
    server.script = ({ method }, response) =>
      method === 'HEAD'
        ? response.writeHead(404).end()
        : response.end('<InitiateMultipartUploadResult></InitiateMultipartUploadResult>');
    const upload = unannounced('a', piecesOf(Buffer.alloc(PART_BYTES + 1)));
    await expect(store.put(upload)).rejects.toMatchObject(UNAVAILABLE);
    expect(server.asked.map(({ method }) => method)).toEqual(['HEAD', 'POST']);
  });
});

async function* piecesOf(...pieces: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await Promise.resolve();
    yield piece;
  }
}

function unannounced(path: string, body: AsyncIterable<Uint8Array>): Upload {
  return { path, contentType: 'text/plain', bytes: undefined, body, check: () => undefined, isConditional: false };
}

/** A server that stores what it gets. */
class Bucket {
  readonly files = new Map<string, string>();
  readonly #parts: string[] = [];
  /** The number of connections that break after a part has arrived. */
  breaks = 0;
  /** The answer instead of joining the parts. */
  refusal: string | undefined;

  readonly script = (asked: Asked, response: ServerResponse): void => {
    const { method, path, body, headers } = asked;
    const [key = '', query = ''] = path.split('?');
    const file = this.files.get(key);
    if (method === 'HEAD') {
      if (file === undefined) response.writeHead(404).end();
      else response.writeHead(200, { etag: `"${file.length}"`, 'content-length': String(file.length) }).end();
    } else if (query === 'uploads=') {
      response.end('<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>');
    } else if (query.startsWith('partNumber=')) {
      expect(headers['content-length']).toBe(String(body.length));
      if (this.breaks-- > 0) response.destroy();
      else response.writeHead(200, { etag: `"${this.#parts.push(body)}"` }).end();
    } else if (method === 'DELETE') {
      response.writeHead(204).end();
    } else if (method === 'POST' && this.refusal !== undefined) {
      response.end(this.refusal);
    } else {
      this.files.set(key, method === 'POST' ? this.#parts.join('') : body);
      response.end('<CompleteMultipartUploadResult></CompleteMultipartUploadResult>');
    }
  };
}

describe('an upload of unknown length', () => {
  it('does not wait for uploads of another store, however long those take', async () => {
    const bucket = new Bucket();
    server.script = bucket.script;
    const slow = openStore();
    const leave = new AbortController();
    const left = new Promise<never>((_, reject) => {
      leave.signal.addEventListener('abort', () => reject(new Error('The client has left.')));
    });
    left.catch(() => undefined);
    let begun = 0;
    const held = Array.from({ length: 40 }, (_, number) =>
      slow
        .put(
          unannounced(
            `slow-${number}`,
            (async function* () {
              begun += 1;
              yield Buffer.from('a little');
              yield await left;
            })(),
          ),
        )
        .catch((error: unknown) => error),
    );
    await eventually(
      () => Promise.resolve(begun),
      (count) => count > 4,
    );
    await store.put(unannounced('quick', piecesOf(Buffer.from('all of it'))));
    expect(bucket.files.get('/bucket/in/quick')).toBe('all of it');
    leave.abort();
    for (const outcome of await Promise.all(held)) expect(String(outcome)).toContain('has left');
  });

  it.each([
    ['an error with a namespace', '<?xml version="1.0"?>\n<Error xmlns="urn:s3"><Code>InternalError</Code></Error>'],
    ['an error', '<Error><Code>InternalError</Code></Error>'],
    ['nothing', ''],
    ['the beginning of an answer', '<?xml version="1.0"?><CompleteMultipartUpl'],
  ])(
    'fails if the server answers %s to the request that joins the parts, and the old file is kept',
    async (_, refusal) => {
      const bucket = new Bucket();
      bucket.files.set('/bucket/in/long', 'old');
      bucket.refusal = refusal;
      server.script = bucket.script;
      await expect(store.put(unannounced('long', piecesOf(Buffer.alloc(PART_BYTES))))).rejects.toMatchObject(
        UNAVAILABLE,
      );
      expect(bucket.files.get('/bucket/in/long')).toBe('old');
    },
  );

  it('is sent in parts, each of which is sent again if the connection breaks', async () => {
    const bucket = new Bucket();
    bucket.breaks = 2;
    server.script = bucket.script;
    const content = Buffer.alloc(2 * PART_BYTES + 1000);
    for (let at = 0; at < content.length; at += 1000) content.write(String(at), at);
    const pieces = Array.from({ length: 11 }, (_, place) => {
      const size = Math.ceil(content.length / 11);
      return content.subarray(place * size, (place + 1) * size);
    });
    await store.put(unannounced('long', piecesOf(...pieces)));
    expect(bucket.files.get('/bucket/in/long') === content.toString()).toBe(true);
    expect(server.asked.filter(({ path }) => path.includes('partNumber=1'))).toHaveLength(3);
    expect(readdirSync(partsFolder)).toEqual([]);
  });
});

describe('a file that arrives slowly', () => {
  /** Returns how many parts are read if server and reader take so long for each. */
  async function taken(bytes: number, serverMs: number, readerMs: number): Promise<number> {
    let nowMs = 0;
    const body = async function* () {
      for (let piece = 0; piece < 100; piece += 1) {
        nowMs += serverMs;
        yield await Promise.resolve(new Uint8Array(bytes));
      }
    };
    let count = 0;
    try {
      for await (const piece of steadyPieces(body(), () => nowMs)) {
        count += piece.length / bytes;
        nowMs += readerMs;
      }
    } catch (error) {
      expect(error).toMatchObject(UNAVAILABLE);
    }
    return count;
  }

  it('can be read slowly, but fails if the server sends only a byte now and then', async () => {
    expect(await taken(1, 10_000, 0)).toBe(6);
    expect(await taken(1, 100, 3_600_000)).toBe(100);
    expect(await taken(100_000, 10_000, 0)).toBe(100);
  });
});
