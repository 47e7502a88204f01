import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OperatorError, ProgressBoard, ServiceError } from '../../platform/index.js';
import type { MediaStore, PutOutcome, StoredFile } from '../../media/index.js';
import { inParallel } from '../in-parallel.js';
import { listBackups } from '../listed-backups.js';
import { checkStored } from './check-stored.js';
import { fetchStored } from './fetch-stored.js';
import { manifestText, PIECE_BYTES, readManifest, type Manifest } from './manifest.js';
import { PieceStore } from './piece-store.js';
import { StoredBackups } from './stored-backups.js';
import { storedPlace } from './stored-place.js';
import { StoredTarget } from './stored-target.js';

const digest = (text: string) => createHash('sha256').update(text).digest('hex');
const SUMMARY = {
  made_utc: '2026-11-22T08:15:00.000Z',
  made_by: '1.0.0',
  data_dir: '/srv/gannet',
  lists: 1,
  files: 1,
  bytes: 4096,
};
const MANIFEST: Manifest = {
  summary: SUMMARY,
  files: [{ path: 'system/data.mdb', bytes: 4096, piece_bytes: PIECE_BYTES, pieces: [digest('x')] }],
};

/** A store in memory, whose calls can fail like those of an unreachable server. */
class MemoryStore implements MediaStore {
  readonly files = new Map<string, Uint8Array>();
  puts = 0;
  /** The number of calls that fail next. */
  away = 0;

  async put({ path, body }: Parameters<MediaStore['put']>[0]): Promise<PutOutcome> {
    this.call();
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(piece);
    const isNew = !this.files.has(path);
    this.files.set(path, Buffer.concat(pieces));
    this.puts += 1;
    return { file: this.told(path), isNew };
  }

  async open(path: string) {
    this.call();
    const content = this.files.get(path);
    if (content === undefined) return undefined;
    const pieces = async function* ({ begin, end } = { begin: 0, end: content.byteLength }) {
      yield content.subarray(begin, end);
    };
    return { file: this.told(path), pieces, close: () => Promise.resolve() };
  }

  async stat(path: string): Promise<StoredFile | undefined> {
    return this.files.has(path) ? this.told(path) : undefined;
  }

  async remove(path: string): Promise<StoredFile> {
    const file = this.told(path);
    this.files.delete(path);
    return file;
  }

  async list({ prefix, after, size }: Parameters<MediaStore['list']>[0]) {
    const paths = [...this.files.keys()].sort().filter((path) => path.startsWith(prefix) && path > after);
    return { files: paths.slice(0, size).map((path) => this.told(path)), hasMore: paths.length > size };
  }

  usage(): never {
    throw new Error('Nobody asks');
  }

  private told(path: string): StoredFile {
    const bytes = this.files.get(path)?.byteLength ?? 0;
    return { path, bytes, contentType: '', etag: '', modifiedUtc: '' };
  }

  private call(): void {
    if (this.away === 0) return;
    this.away -= 1;
    throw new ServiceError(
      { code: 'store-unavailable', status: 503, title: 'The media store does not answer' },
      'It is away.',
    );
  }
}

describe('the manifest of a backup', () => {
  it('is read as it was written', () => {
    expect(readManifest(manifestText(MANIFEST), 'it')).toEqual(MANIFEST);
  });

  it('is refused with an OperatorError, whatever byte of it is changed or wherever it ends', () => {
    const whole = Buffer.from(manifestText(MANIFEST));
    fc.assert(
      fc.property(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }), fc.boolean(), (place, byte, cut) => {
        const bytes = Buffer.from(whole);
        bytes[place] = byte;
        const read = () => readManifest((cut ? bytes.subarray(0, place) : bytes).toString(), 'it');
        if (!cut && bytes.equals(whole)) expect(read()).toEqual(MANIFEST);
        else expect(read).toThrow(OperatorError);
      }),
    );
  });

  it('names no file outside the data directory and no invalid part, even with a correct checksum', () => {
    const file = fc.record({
      // Only these texts are generated, because some random ones are valid.
      path: fc.oneof(
        fc.constantFrom('../x', 'a/../b', '', '/etc/passwd', 'a//b', 'a\0', 'fine'),
        fc.anything().filter((each) => typeof each !== 'string'),
      ),
      bytes: fc.oneof(fc.constantFrom(-1, 0, 1.5, 4096, PIECE_BYTES + 1), fc.anything()),
      piece_bytes: fc.oneof(fc.constantFrom(-1, 0, 4096, PIECE_BYTES, 2 ** 40), fc.anything()),
      pieces: fc.oneof(fc.array(fc.constantFrom(digest('x'), '../x', ''), { maxLength: 2 }), fc.anything()),
    });
    fc.assert(
      fc.property(file, (each) => {
        const text = manifestText({ summary: SUMMARY, files: [each as Manifest['files'][number]] });
        try {
          const [read] = readManifest(text, 'it').files;
          expect(read?.path).toBe('fine');
          expect(read?.pieces).toHaveLength(Math.ceil((read?.bytes ?? 0) / (read?.piece_bytes ?? 0)));
          expect(read?.piece_bytes).toBeLessThanOrEqual(2 ** 26);
          for (const piece of read?.pieces ?? []) expect(piece).toBe(digest('x'));
        } catch (error) {
          expect(error).toBeInstanceOf(OperatorError);
        }
      }),
    );
  });
});

describe('storedPlace', () => {
  it('parses a store, folders in it, and the name of a backup', () => {
    expect(storedPlace('/srv/backups', 'a')).toBeUndefined();
    expect(storedPlace('media:nightly', 'a')).toMatchObject({ store: 'nightly', folders: '', told: 'media:nightly' });
    expect(storedPlace('media:nightly/a/b/20261122T081500Z-2', 'a')).toEqual({
      account: 'a',
      store: 'nightly',
      folders: 'a/b',
      name: '20261122T081500Z-2',
      told: 'media:nightly/a/b',
    });
    for (const wrong of ['media:', 'media:/x', 'media:a/../b', 'media:a//b', `media:a/${'x'.repeat(500)}`]) {
      expect(() => storedPlace(wrong, 'a')).toThrow(ServiceError);
    }
  });
});

describe('parts of files in a store', () => {
  let folder: string;
  let store: MemoryStore;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'gannet-pieces-'));
    store = new MemoryStore();
  });
  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  async function piecesOf(): Promise<PieceStore> {
    const pieces = new PieceStore(store, 'media:s');
    await pieces.look();
    return pieces;
  }

  it('are sent once, even concurrently, and again if the stored part has another length', async () => {
    const pieces = await piecesOf();
    const [one, two] = await Promise.all([pieces.put(Buffer.from('same')), pieces.put(Buffer.from('same'))]);
    // Either of the two may come first.
    expect([one.shared, two.shared].sort()).toEqual([false, true]);
    expect(store.puts).toBe(1);
    expect((await (await piecesOf()).put(Buffer.from('same'))).shared).toBe(true);
    const [path = ''] = store.files.keys();
    store.files.set(path, Buffer.from('sam'));
    expect((await (await piecesOf()).put(Buffer.from('same'))).shared).toBe(false);
    expect(Buffer.from(store.files.get(path) ?? []).toString()).toBe('same');
  });

  it('are sent again to a server that was unreachable, and fail if it stays so', async () => {
    const pieces = await piecesOf();
    store.away = 1;
    expect((await pieces.put(Buffer.from('a'))).shared).toBe(false);
    store.away = 100;
    await expect(pieces.put(Buffer.from('b'))).rejects.toMatchObject({ code: 'store-unavailable' });
    store.away = 0;
    expect((await pieces.put(Buffer.from('b'))).shared).toBe(false);
  });

  it('are joined to files of any length, and only the changed parts of a file are sent again', async () => {
    const signal = new AbortController().signal;
    const from = join(folder, 'copies');
    mkdirSync(join(from, 'list', 'deep'), { recursive: true });
    const contents = [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES + 7].map((length) =>
      Buffer.alloc(length, `${length} `),
    );
    for (const [place, bytes] of contents.entries()) writeFileSync(join(from, 'list', 'deep', `${place}`), bytes);
    const environment = Buffer.concat([...contents].reverse());
    writeFileSync(join(from, 'list', 'data.mdb'), environment);
    const target = new StoredTarget(from, await piecesOf(), signal);
    await target.keepFolder('list');
    const files = await target.files();
    const backups = new StoredBackups(store, 'media:s');
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    await backups.write({ summary: { ...SUMMARY, files: files.length, bytes }, files });
    const to = join(folder, 'back');
    await fetchStored(backups, { name: undefined, nowUtc: SUMMARY.made_utc }, to);
    for (const [place, content] of contents.entries()) {
      expect(readFileSync(join(to, 'list', 'deep', `${place}`)).equals(content)).toBe(true);
    }
    expect(readFileSync(join(to, 'list', 'data.mdb')).equals(environment)).toBe(true);
    const puts = store.puts;
    const big = contents.at(-1) ?? Buffer.alloc(0);
    big[PIECE_BYTES + 5] = 0;
    writeFileSync(join(folder, 'big'), big);
    const second = new StoredTarget(from, await piecesOf(), signal);
    await second.keepFile(join(folder, 'big'), 'big');
    expect(store.puts - puts).toBe(1);
    expect(second.bytesShared).toBe(big.byteLength - PIECE_BYTES);
  });

  it('are joined to the newest backup, and one made by a clock that was ahead does not count as that', async () => {
    const backups = new StoredBackups(store, 'media:s');
    for (const year of ['2025', '2026', '2041']) {
      const made_utc = SUMMARY.made_utc.replace('2026', year);
      await backups.write({ summary: { ...SUMMARY, made_utc, files: 0, bytes: 0 }, files: [] });
    }
    const nowUtc = SUMMARY.made_utc;
    const { summary } = await fetchStored(backups, { name: undefined, nowUtc }, join(folder, 'back'));
    expect(summary.made_utc).toBe(nowUtc);
    const listed = await listBackups(backups, nowUtc);
    expect(listed.backups.map(({ made_utc }) => made_utc.slice(0, 4))).toEqual(['2041', '2025', '2026']);
  });

  it('have their full length even if the system reads a file in parts', async () => {
    const bytes = Buffer.alloc(2 * PIECE_BYTES + 7, 'many different ones ');
    writeFileSync(join(folder, 'file'), bytes);
    const handle = await open(join(folder, 'file'));
    type Read = (buffer: Buffer, offset: number, length: number, position: number) => Promise<{ bytesRead: number }>;
    const kind = Object.getPrototypeOf(handle) as { read: Read };
    await handle.close();
    const { read } = kind;
    const half = vi.spyOn(kind, 'read').mockImplementation(function (this: unknown, buffer, offset, length, position) {
      return read.call(this, buffer, offset, Math.ceil(length / 2), position);
    });
    const target = new StoredTarget(folder, await piecesOf(), new AbortController().signal);
    try {
      await target.keepFile(join(folder, 'file'), 'file');
    } finally {
      half.mockRestore();
    }
    const [kept] = await target.files();
    expect(kept?.bytes).toBe(bytes.byteLength);
    expect(kept?.pieces[0]).toBe(createHash('sha256').update(bytes.subarray(0, PIECE_BYTES)).digest('hex'));
  });

  it('are not sent any more when the signal is aborted', async () => {
    const gone = new AbortController();
    gone.abort(new Error('The client is gone'));
    writeFileSync(join(folder, 'file'), 'x');
    const target = new StoredTarget(folder, await piecesOf(), gone.signal);
    await expect(target.keepFile(join(folder, 'file'), 'file')).rejects.toThrow('The client is gone');
    expect(store.puts).toBe(0);
  });

  it('are not sent for a folder after an earlier one failed', async () => {
    mkdirSync(join(folder, 'a'));
    writeFileSync(join(folder, 'a', 'file'), 'x');
    const target = new StoredTarget(folder, await piecesOf(), new AbortController().signal);
    store.away = 100;
    await target.keepFolder('a');
    await expect(target.files()).rejects.toMatchObject({ code: 'store-unavailable' });
    await expect(target.keepFolder('a')).rejects.toMatchObject({ code: 'store-unavailable' });
  });
});

describe('StoredBackups', () => {
  it('lets one service write at a time, but takes over from an earlier one of the same data directory', async () => {
    const store = new MemoryStore();
    const backups = new StoredBackups(store, 'media:s');
    const left = await backups.occupy('/srv/a');
    await expect(backups.occupy('/srv/b')).rejects.toMatchObject({ code: 'conflict' });
    const mine = await backups.occupy('/srv/a');
    await expect(left.assertHeld()).rejects.toMatchObject({ code: 'conflict' });
    await mine.assertHeld();
    await mine.release();
    expect([...store.files.keys()]).toEqual([]);
    store.files.set('writing.json', Buffer.from('no JSON'));
    await expect(backups.occupy('/srv/a')).rejects.toMatchObject({ code: 'conflict' });
  });

  it('deletes no part if one of its backups cannot be read', async () => {
    const store = new MemoryStore();
    const backups = new StoredBackups(store, 'media:s');
    const pieces = new PieceStore(store, 'media:s');
    await pieces.look();
    await pieces.put(Buffer.from('needed by it'));
    store.files.set('20261122T081500Z.json', Buffer.from('damaged'));
    await backups.write({ summary: SUMMARY, files: [] });
    expect(await backups.all()).toMatchObject([{ name: '20261122T081500Z', summary: undefined }, { summary: SUMMARY }]);
    await expect(backups.removeOldest([], 1, pieces)).rejects.toThrow(OperatorError);
    expect([...store.files.keys()].filter((path) => path.startsWith('pieces/'))).toHaveLength(1);
  });
});

describe('checkStored', () => {
  const SIGNAL = new AbortController().signal;
  let store: MemoryStore;
  let backups: StoredBackups;
  const check = (name?: string, signal = SIGNAL) => {
    const job = new ProgressBoard().begin({ kind: 'backup-check', subject: 'media:s', total: null });
    job.start();
    return checkStored(backups, name, { job, signal });
  };
  const pieceOf = (text: string) => `pieces/${digest(text).slice(0, 2)}/${digest(text)}`;
  const keep = async (time: string, contents: readonly string[]) => {
    const pieces = new PieceStore(store, 'media:s');
    await pieces.look();
    for (const content of contents) await pieces.put(Buffer.from(content));
    const files = contents.map((content) => ({
      path: `of-${content}`,
      bytes: content.length,
      piece_bytes: PIECE_BYTES,
      pieces: [digest(content)],
    }));
    return backups.write({ summary: { ...SUMMARY, made_utc: time }, files });
  };
  beforeEach(async () => {
    store = new MemoryStore();
    backups = new StoredBackups(store, 'media:s');
    await keep('2026-11-22T08:15:00.000Z', ['both', 'first']);
    await keep('2026-11-23T08:15:00.000Z', ['both', 'second']);
  });

  it('reads each part once, however many backups have it', async () => {
    const opened: string[] = [];
    const open = store.open.bind(store);
    store.open = (path) => {
      opened.push(path);
      return open(path);
    };
    const { backups: checked, bytes_read: read } = await check();
    expect(checked.map(({ path, problem_count: problems }) => [path, problems])).toEqual([
      ['media:s/20261122T081500Z', 0],
      ['media:s/20261123T081500Z', 0],
    ]);
    expect(read).toBe('bothfirstsecond'.length);
    expect(opened.filter((path) => path.startsWith('pieces/')).sort()).toEqual(
      ['both', 'first', 'second'].map(pieceOf).sort(),
    );
  });

  it('reports missing and damaged parts for the backups that have them, even if their length is right', async () => {
    store.files.delete(pieceOf('first'));
    store.files.set(pieceOf('second'), Buffer.from('secOnd'));
    const counts = async () => (await check()).backups.map(({ problems }) => problems);
    expect(await counts()).toEqual([
      [`of-first: the piece ${digest('first')} is missing`],
      [`of-second: the piece ${digest('second')} is damaged`],
    ]);
    expect((await check('20261123T081500Z')).backups).toHaveLength(1);
    store.files.set(pieceOf('both'), Buffer.from('both and more'));
    expect((await counts()).map((problems) => problems.length)).toEqual([2, 2]);
    store.files.set('20261122T081500Z.json', Buffer.from('damaged'));
    expect((await check()).backups).toMatchObject([{ made_utc: null, problem_count: 1 }, { problem_count: 2 }]);
  });

  it('reports nothing that is deleted meanwhile, and fails if there is no backup', async () => {
    const open = store.open.bind(store);
    store.open = (path) => {
      if (path === pieceOf('first')) {
        store.files.delete(path);
        store.files.delete('20261122T081500Z.json');
      }
      return open(path);
    };
    expect((await check()).backups).toMatchObject([{ path: 'media:s/20261123T081500Z', problem_count: 0 }]);
    await expect(check('20261122T081500Z')).rejects.toMatchObject({ code: 'unprocessable' });
    store.files.clear();
    await expect(check()).rejects.toThrow('There is no backup at media:s.');
  });

  it('ends when it is aborted, and fails if the store cannot be reached, which is no damage', async () => {
    const gone = new AbortController();
    gone.abort(new Error('The client is gone'));
    await expect(check(undefined, gone.signal)).rejects.toThrow('The client is gone');
    store.away = 1;
    expect((await check()).backups).toHaveLength(2);
    store.away = 1_000;
    await expect(check()).rejects.toMatchObject({ code: 'store-unavailable' });
  });
});

describe('inParallel', () => {
  it('runs no more actions at a time than requested, and ends with the first failure', async () => {
    let [running, most, begun] = [0, 0, 0];
    const action = async (item: number) => {
      begun += 1;
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      if (item === 10) throw new Error('the tenth');
    };
    const items = Array.from({ length: 100 }, (_, index) => index);
    await expect(inParallel(items, 3, action)).rejects.toThrow('the tenth');
    expect([running, most]).toEqual([0, 3]);
    expect(begun).toBeLessThan(15);
  });
});
