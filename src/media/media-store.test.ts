/** Behaviour that all kinds of media stores have in common. */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { CollectionStore } from '../catalog/index.js';
import { OutboundClient } from '../platform/outbound/outbound-client.js';
import { NEVER, openEnvironment, Secret, ServiceError, systemClock, type LmdbEnvironment } from '../platform/index.js';
import { ScriptedServer } from '../../test/support/scripted-server.js';
import { s3Server, type S3TestServer } from '../../test/support/s3-server.js';
import { BlobFolder } from './built-in/blob-folder.js';
import { BuiltInStore } from './built-in/built-in-store.js';
import { FileTable } from './built-in/file-table.js';
import { FolderStore } from './folder/folder-store.js';
import type { FileEvents, MediaStore, StoredFile, Upload } from './media-store.js';
import { S3Client } from './s3/s3-client.js';
import { S3Store } from './s3/s3-store.js';

interface Kind {
  readonly name: string;
  open(events: FileEvents): Promise<MediaStore>;
  /** Returns the names of all leftovers of uploads. */
  leftovers(): readonly string[];
}

let folder: string;
let environment: LmdbEnvironment | undefined;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-media-'));
  return async () => {
    await environment?.close();
    environment = undefined;
    rmSync(folder, { recursive: true, force: true });
  };
});

const namesIn = (path: string) => (existsSync(path) ? readdirSync(path) : []);

const builtIn: Kind = {
  name: 'built-in',
  async open(events) {
    environment ??= openEnvironment(join(folder, 'system'), { kind: 'system' });
    return builtInStore(environment, 10_000_000, events);
  },
  leftovers: () => namesIn(join(folder, 'media', 'incoming')),
};

function builtInStore(of: LmdbEnvironment, bytesMax: number, events: FileEvents = silent): BuiltInStore {
  return new BuiltInStore({
    closing: NEVER,
    id: 'default/default',
    table: new FileTable(of, CollectionStore.of(of)),
    blobs: new BlobFolder(join(folder, 'media')),
    limits: { bytesMax, filesMax: 10_000 },
    clock: systemClock,
    assertWanted: () => undefined,
    assertMayGrow: () => Promise.resolve(),
    told: (_change, kind, file) => events[kind](file),
  });
}

const ofFolder: Kind = {
  name: 'folder',
  open: async (events) => new FolderStore({ path: folder, events }),
  leftovers: () => namesIn(join(folder, '.gannet-uploads')),
};

const server = await s3Server();
const s3: Kind = {
  name: 's3',
  async open(events) {
    return s3Store(server as S3TestServer, events);
  },
  leftovers: () => [],
};
const clients: OutboundClient[] = [];

let buckets = 0;
async function s3Store({ endpoint }: Pick<S3TestServer, 'endpoint'>, events: FileEvents): Promise<S3Store> {
  const bucket = `bucket-${process.pid}-${(buckets += 1)}`;
  const ms = 20_000;
  const outbound = new OutboundClient({
    rules: { allowed_hosts: [], loopback_allowed: true },
    userAgent: 'tests',
    limits: { headersMs: ms, idleMs: ms, totalMs: ms, wireBytesMax: 1e9, bytesMax: 1e9 },
    connectMs: ms,
    keepAliveMs: 1000,
    connectionsPerHostMax: 8,
    connectionsMax: 8,
    waitingMax: 100,
  });
  clients.push(outbound);
  const access = { access_key_id: 'AKIATEST', secret_access_key: '' };
  const settings = { kind: 's3', endpoint, region: 'us-east-1', bucket, prefix: 'files/', ...access } as const;
  const client = new S3Client({ client: outbound, settings, secret: () => new Secret('secret') });
  (await client.call({ method: 'PUT' })).discard();
  return new S3Store({ client, prefix: settings.prefix, events, partsFolder: join(folder, 'parts') });
}

afterAll(async () => {
  for (const client of clients) await client.close();
  await server?.close();
});

const silent: FileEvents = { uploaded: () => undefined, deleted: () => undefined };

async function* piecesOf(...pieces: (string | Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await Promise.resolve();
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

function upload(path: string, content: string | Uint8Array, more: Partial<Upload> = {}): Upload {
  const bytes = Buffer.byteLength(content);
  const body = piecesOf(content);
  return { path, contentType: 'text/plain', bytes, body, check: () => undefined, isConditional: false, ...more };
}

async function textOf(store: MediaStore, path: string, range?: { begin: number; end: number }): Promise<string> {
  const opened = await store.open(path);
  if (opened === undefined) return '(none)';
  const pieces: Uint8Array[] = [];
  for await (const piece of opened.pieces(range)) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

const code = (expected: string) => expect.objectContaining({ code: expected }) as unknown;
const refuse = () => {
  throw new ServiceError('precondition-failed', 'no');
};

describe.each([builtIn, ofFolder, ...(server === undefined ? [] : [s3])])('a $name store', (kind) => {
  let store: MediaStore;
  let told: string[];
  beforeEach(async () => {
    told = [];
    store = await kind.open({
      uploaded: ({ path }: StoredFile) => void told.push(`+${path}`),
      deleted: ({ path }: StoredFile) => void told.push(`-${path}`),
    });
  });

  it('returns what was uploaded, as a whole and in ranges, with its properties', async () => {
    const content = randomBytes(200_000).toString('hex');
    const { file, isNew } = await store.put(upload('a/b c/ü.txt', content));
    expect(isNew).toBe(true);
    expect(file).toMatchObject({ path: 'a/b c/ü.txt', bytes: 400_000, contentType: 'text/plain' });
    expect(file.etag).toMatch(/^[\x21\x23-\x7e]+$/);
    expect(Math.abs(Date.now() - Date.parse(file.modifiedUtc))).toBeLessThan(60_000);
    expect(await store.stat('a/b c/ü.txt')).toMatchObject({ bytes: 400_000, etag: file.etag });
    expect(sha(await textOf(store, 'a/b c/ü.txt'))).toBe(sha(content));
    expect(await textOf(store, 'a/b c/ü.txt', { begin: 70_000, end: 70_010 })).toBe(content.slice(70_000, 70_010));
    expect(told).toEqual(['+a/b c/ü.txt']);
  });

  it('accepts an empty file, and one of unknown length', async () => {
    await store.put(upload('empty', ''));
    expect(await textOf(store, 'empty')).toBe('');
    const { bytes: _, ...unknown } = upload('long', 'x');
    const pieces = Array.from({ length: 20 }, () => Buffer.alloc(700_00, 'y'));
    await store.put({ ...unknown, bytes: undefined, body: piecesOf(...pieces.slice(0, 9)) });
    expect((await textOf(store, 'long')).length).toBe(9 * 70_000);
  });

  it('has no file that was not uploaded', async () => {
    expect(await store.open('a')).toBeUndefined();
    expect(await store.stat('a/b')).toBeUndefined();
    await expect(store.remove('a', () => undefined)).rejects.toEqual(code('file-not-found'));
    expect(await store.list({ prefix: '', after: '', size: 10 })).toEqual({ files: [], hasMore: false });
  });

  it('replaces a file atomically: the old one can be read to its end, and the ETag changes', async () => {
    const first = await store.put(upload('a', 'first'));
    const reading = kind === s3 ? undefined : await store.open('a');
    const second = await store.put(upload('a', 'second!'));
    expect(second.isNew).toBe(false);
    expect(second.file.etag).not.toBe(first.file.etag);
    if (reading !== undefined) {
      const pieces: Uint8Array[] = [];
      for await (const piece of reading.pieces()) pieces.push(piece);
      expect(Buffer.concat(pieces).toString()).toBe('first');
    }
    expect(await textOf(store, 'a')).toBe('second!');
    await store.remove('a', () => undefined);
    expect(await store.open('a')).toBeUndefined();
    expect(told).toEqual(['+a', '+a', '-a']);
  });

  it('keeps the old file, and nothing else, if an upload is interrupted', async () => {
    await store.put(upload('a', 'old'));
    const broken = { ...upload('a', ''), bytes: 100, body: piecesOf('ne', new Error('gone')) };
    await expect(store.put(broken)).rejects.toThrow();
    await expect(store.put({ ...broken, bytes: undefined, body: piecesOf('ne', new Error('gone')) })).rejects.toThrow(
      'gone',
    );
    expect(await textOf(store, 'a')).toBe('old');
    expect(kind.leftovers()).toEqual([]);
    expect((await store.list({ prefix: '', after: '', size: 10 })).files.map(({ path }) => path)).toEqual(['a']);
    expect(told).toEqual(['+a']);
  });

  it('calls the check before it changes anything', async () => {
    const seen: (string | undefined)[] = [];
    await store.put(upload('a', 'one', { check: (current) => void seen.push(current?.path) }));
    expect(seen[0]).toBeUndefined();
    await expect(store.put(upload('a', 'two', { check: refuse }))).rejects.toEqual(code('precondition-failed'));
    await expect(store.remove('a', refuse)).rejects.toEqual(code('precondition-failed'));
    expect(await textOf(store, 'a')).toBe('one');
    expect(told).toEqual(['+a']);
  });

  it('lists paths by their bytes, in pages, below a prefix', async () => {
    const paths = ['a', 'a-b', 'a.txt', 'a/x', 'a/y/z', 'a0', 'b/\u{ff5e}', 'b/\u{1f600}', 'ä', 'Z'].filter(
      // A folder cannot have a file and a folder of the same name.
      (path) => kind !== ofFolder || path !== 'a',
    );
    for (const path of paths) await store.put(upload(path, path));
    const sorted = paths.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    for (const size of [1, 3, 100]) {
      for (const prefix of ['', 'a', 'a/', 'b/', 'nothing']) {
        const seen: string[] = [];
        for (let after = ''; ;) {
          const page = await store.list({ prefix, after, size });
          expect(page.files.length).toBeLessThanOrEqual(size);
          seen.push(...page.files.map(({ path }) => path));
          if (!page.hasMore) break;
          after = page.files.at(-1)?.path ?? '';
        }
        expect(seen).toEqual(sorted.filter((path) => path.startsWith(prefix)));
      }
    }
  });

  it('keeps one of many concurrent uploads to one path, complete', async () => {
    // The test server itself fails for concurrent uploads.
    const contents = Array.from({ length: kind === s3 ? 1 : 20 }, (_, number) => String(number).repeat(50_000));
    await Promise.all(contents.map((content) => store.put(upload('same', content))));
    expect(contents).toContain(await textOf(store, 'same'));
    expect(kind.leftovers()).toEqual([]);
  });
});

describe('the listing of a bucket', () => {
  const object = '<Contents><Key>files/a.txt</Key><Size>1</Size></Contents>';
  const listing = (inside: string) => `<?xml version="1.0"?><ListBucketResult>${inside}</ListBucketResult>`;
  const whole = listing(`<IsTruncated>false</IsTruncated>${object}${object.replace('a.txt', 'b.txt')}`);

  it.each([
    ['half of one', whole.slice(0, whole.length / 2)],
    ['a page of HTML', '<!DOCTYPE html><html><body><p>Welcome</p></body></html>'],
    ['nothing', ''],
    ['data of another kind', '{"files": []}'],
    ['one that does not say whether it is all', listing(object)],
    ['one that has more, and names none', listing('<IsTruncated>true</IsTruncated>')],
  ])('fails if the answer is %s, instead of looking empty', async (_, answer) => {
    const made = await ScriptedServer.start();
    let body = whole;
    made.script = ({ method }, response) => response.end(method === 'GET' ? body : '');
    const store = await s3Store({ endpoint: made.url('') }, silent);
    const ask = { prefix: '', after: '', size: 10 };
    expect((await store.list(ask)).files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt']);
    body = answer;
    await expect(store.list(ask)).rejects.toMatchObject({ code: 'store-unavailable' });
    await made.close();
  });
});

describe('leftovers of a crash in a built-in store', () => {
  it('are moved to their place or removed', async () => {
    const blobs = join(folder, 'media', 'blobs');
    const incoming = join(folder, 'media', 'incoming');
    environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
    const first = builtInStore(environment, 1000);
    await first.put(upload('kept', 'kept'));
    await first.put(upload('removed', 'removed'));
    const [kept = ''] = readdirSync(blobs).filter((name) => readFileSync(join(blobs, name), 'utf8') === 'kept');
    // One blob is between its transaction and its place, the other before any transaction.
    renameSync(join(blobs, kept), join(incoming, kept));
    writeFileSync(join(incoming, 'half'), 'ha');
    const second = builtInStore(environment, 1000);
    expect(await textOf(second, 'kept')).toBe('kept');
    await second.recover();
    expect(readdirSync(incoming)).toEqual([]);
    expect(readdirSync(blobs)).toContain(kept);
    expect(await second.check()).toEqual({ problems: [], unnamed: 0 });
    expect(await second.usage()).toMatchObject({ bytesUsed: 11, fileCount: 2 });
  });

  it('of a file that is complete in its place as well do not replace it', async () => {
    const blobs = join(folder, 'media', 'blobs');
    environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
    await builtInStore(environment, 1000).put(upload('kept', 'complete'));
    // So does a backup have it if it was copied while it was received, and again when it was complete.
    writeFileSync(join(folder, 'media', 'incoming', readdirSync(blobs)[0] ?? ''), 'comp');
    const second = builtInStore(environment, 1000);
    await second.recover();
    expect(builtIn.leftovers()).toEqual([]);
    expect(await second.check()).toEqual({ problems: [], unnamed: 0 });
    expect(await textOf(second, 'kept')).toBe('complete');
  });

  it('are removed again after a power failure, however many there were', async () => {
    const blobs = join(folder, 'media', 'blobs');
    const contents = () => readdirSync(blobs).map((name) => readFileSync(join(blobs, name), 'utf8'));
    environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
    const first = builtInStore(environment, 1000);
    await first.put(upload('file', '0'));
    // These are more than share one sync; what was synced does not reappear.
    for (let change = 1; change <= 300; change += 1) await first.put(upload('file', String(change)));
    await first.put(upload('other', 'other'));
    const [other = ''] = readdirSync(blobs).filter((name) => readFileSync(join(blobs, name), 'utf8') === 'other');
    await first.remove('other', () => undefined);
    expect(contents()).toEqual(['300']);
    writeFileSync(join(blobs, other), 'other');
    const second = builtInStore(environment, 1000);
    await second.recover();
    expect(contents()).toEqual(['300']);
    expect(await second.check()).toEqual({ problems: [], unnamed: 0 });
  });
});

it('A check of a built-in store reports nothing about files that are added, changed and deleted meanwhile', async () => {
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  const store = builtInStore(environment, 100_000);
  for (let number = 0; number < 100; number += 1) await store.put(upload(`kept-${number}`, 'kept'));
  const checks = (async () => {
    const found = [];
    for (let round = 0; round < 5; round += 1) found.push(await store.check());
    return found;
  })();
  let isOver = false;
  const checked = checks.finally(() => (isOver = true));
  for (let turn = 0; !isOver; turn += 1) {
    await store.put(upload('passing', String(turn)));
    await store.put(upload('kept-99', String(turn)));
    await store.remove('passing', () => undefined);
  }
  expect(await checked).toEqual(Array.from({ length: 5 }, () => ({ problems: [], unnamed: 0 })));
});

describe('the capacity of a built-in store', () => {
  it('is shared by all uploads, including those of unknown length', async () => {
    environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
    const store = builtInStore(environment, 1000);
    let end: () => void = () => undefined;
    const over = new Promise<void>((resolve) => (end = resolve));
    const putSlowly = (path: string, bytes: number, counted: () => void = () => undefined) => {
      const body = (async function* () {
        yield Buffer.alloc(bytes, 'x');
        // The upload has reserved its bytes when it asks for more.
        counted();
        await over;
      })();
      return store.put({ ...upload(path, ''), bytes: undefined, body });
    };
    let first: Promise<unknown> = Promise.resolve();
    await new Promise<void>((counted) => {
      first = putSlowly('first', 600, counted);
    });
    await expect(putSlowly('second', 600)).rejects.toEqual(code('store-full'));
    await expect(store.put(upload('third', 'y'.repeat(600)))).rejects.toEqual(code('store-full'));
    const fourth = putSlowly('fourth', 400);
    end();
    await Promise.all([first, fourth]);
    expect(await store.usage()).toMatchObject({ bytesUsed: 1000, fileCount: 2 });
    await expect(store.put(upload('fifth', 'z'))).rejects.toEqual(code('store-full'));
    await store.remove('fourth', () => undefined);
    // A file that replaces another one needs only the difference.
    await store.put({ ...upload('first', ''), bytes: undefined, body: piecesOf('w'.repeat(1000)) });
    expect(await store.usage()).toMatchObject({ bytesUsed: 1000, fileCount: 1 });
  });
});

const sha = (text: string) => createHash('sha256').update(text).digest('hex');
