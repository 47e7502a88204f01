/** Files that are read for several purposes: how often they are fetched, and what is on disk meanwhile. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FetchedFile } from './fetched-file.js';
import { NEVER } from '../platform/index.js';
import { SharedFiles, type Reading, type SharedFileWanted, type SharedFilesOptions } from './shared-files.js';

let folder = '';
let nowMs = 1000;
/** What the URL answers. */
let content = 'a film';
let asked: (string | undefined)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-shared-'));
  [nowMs, content, asked] = [1000, 'a film', []];
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const opened = (options: Partial<SharedFilesOptions> = {}) =>
  new SharedFiles(
    { folder: join(folder, 'videos'), bytesMax: 100, filesMax: 2, keptMsMax: 3_600_000, ...options },
    () => nowMs,
  );

const fetchNow: SharedFileWanted['fetch'] = async (room, known) => {
  asked.push(known?.etag);
  if (known?.etag === content) return { kind: 'same', validators: known };
  await room(content.length);
  return { kind: 'bytes', bytes: Buffer.from(content), validators: { etag: content } };
};

async function read(
  files: SharedFiles,
  as: Reading,
  others: readonly Reading[],
  wanted: Partial<SharedFileWanted> = {},
) {
  const fetched = await files.fetch({
    ...{ account: 'a', url: 'https://a.example/film', as, sinceMs: 1000, isSlow: as !== 'video', signal: NEVER },
    ...{ room: () => Promise.resolve(), fetch: fetchNow, awaitedAs: () => Promise.resolve(others), ...wanted },
  });
  return fetched.kind === 'bytes' ? Buffer.from(fetched.bytes).toString() : fetched.kind;
}

it('A file is fetched once for all its readings, whichever is first, even while another one fetches it', async () => {
  const files = opened();
  const both = [read(files, 'frames', ['video']), read(files, 'video', ['frames', 'transcript'])];
  expect(await Promise.all(both)).toEqual(['a film', 'a film']);
  nowMs += 60_000;
  // The reading in between does not know the one that comes last.
  expect(await read(files, 'image', [])).toBe('a film');
  expect(await read(files, 'transcript', ['frames'])).toBe('a film');
  expect(asked).toEqual([undefined]);
  // Every reading has it, so it is deleted.
  expect(await read(files, 'video', [], { sinceMs: 0 })).toBe('a film');
  expect(asked).toHaveLength(2);
  expect(readdirSync(join(folder, 'videos'))).toEqual([]);
});

it('A file that may have changed is requested conditionally, and fetched if it has', async () => {
  const files = opened();
  await read(files, 'video', ['frames']);
  expect(await read(files, 'frames', ['video', 'transcript'], { sinceMs: 2000 })).toBe('a film');
  content = 'another film';
  expect(await read(files, 'transcript', [], { sinceMs: 3000 })).toBe('another film');
  expect(asked).toEqual([undefined, 'a film', 'a film']);
});

it('A file is shared only within one account and URL', async () => {
  const files = opened();
  await read(files, 'video', ['frames']);
  await read(files, 'frames', [], { account: 'b' });
  await read(files, 'frames', [], { url: 'https://a.example/other' });
  expect(asked).toHaveLength(3);
});

it('Files are kept on disk if there is room, the first ones, and for a limited time', async () => {
  const files = opened({ bytesMax: 13 });
  const url = (at: number) => ({ url: `https://a.example/${at}` });
  for (const at of [1, 2, 3]) await read(files, 'video', ['frames'], url(at));
  await read(files, 'frames', [], url(3));
  expect(asked).toHaveLength(4);
  const short = opened({ keptMsMax: 1 });
  await read(short, 'video', ['frames', 'transcript']);
  asked = [];
  await expect.poll(() => read(short, 'frames', ['transcript']).then(() => asked.length)).toBeGreaterThan(0);
  await read(opened({ filesMax: 0 }), 'video', ['frames']);
  // The folder cannot be created.
  writeFileSync(join(folder, 'file'), '');
  expect(await read(opened({ folder: join(folder, 'file', 'videos') }), 'video', ['frames'])).toBe('a film');
});

it('A quick reading does not wait for a slow one that waits for room, and a reading continues if another one fails', async () => {
  const files = opened();
  let admit = (): void => undefined;
  const slow = read(files, 'frames', ['video'], { room: () => new Promise((resolve) => (admit = resolve)) });
  expect(await read(files, 'video', ['frames'])).toBe('a film');
  admit();
  expect(await slow).toBe('a film');
  const failing = () => Promise.reject(new Error('no such host'));
  const failed = read(files, 'video', ['frames'], { url: 'https://b.example/', fetch: failing });
  const behind = read(files, 'frames', [], { url: 'https://b.example/' });
  await expect(failed).rejects.toThrow('no such host');
  expect(await behind).toBe('a film');
});

it('A file is stored once if two readings fetch it concurrently', async () => {
  const files = opened({ bytesMax: 12, filesMax: 8 });
  let admit = (): void => undefined;
  const slow = read(files, 'frames', ['video'], { room: () => new Promise((resolve) => (admit = resolve)) });
  const fetch: SharedFileWanted['fetch'] = (...asked) => {
    // Both are written to disk at the same time.
    admit();
    return fetchNow(...asked);
  };
  expect(await Promise.all([slow, read(files, 'video', ['frames'], { fetch })])).toEqual(['a film', 'a film']);
  // There is room for another file.
  await read(files, 'video', ['frames'], { url: 'https://c.example/' });
  asked = [];
  await read(files, 'frames', [], { url: 'https://c.example/' });
  expect(asked).toEqual([]);
});

it('A reading stops waiting when it is aborted, and fetches again if the file on disk is gone', async () => {
  const files = opened();
  const leaving = new AbortController();
  const fetch = () => new Promise<FetchedFile>(() => undefined);
  void read(files, 'video', ['frames'], { fetch });
  const waiting = read(files, 'frames', [], { signal: leaving.signal });
  leaving.abort(new Error('left'));
  await expect(waiting).rejects.toThrow('left');
  const closed = opened();
  await read(closed, 'video', ['frames']);
  await closed.close();
  expect(await read(closed, 'frames', [])).toBe('a film');
  expect(asked).toEqual([undefined, undefined]);
});
