/** Local files that commands write. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { beginFile, saveWhole, type FileUnderWay } from './saved-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-saved-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

async function* piecesOf(...pieces: readonly (string | Error)[]): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    await Promise.resolve();
    if (piece instanceof Error) throw piece;
    yield Buffer.from(piece);
  }
}

it('saveWhole replaces a file when the new one is complete, and otherwise leaves nothing behind', async () => {
  const path = join(folder, 'kept');
  writeFileSync(path, 'old');
  chmodSync(path, 0o640);
  await expect(saveWhole(piecesOf('ne', new Error('gone')), path)).rejects.toThrow('gone');
  expect(readFileSync(path, 'utf8')).toBe('old');
  await saveWhole(piecesOf('new'), path);
  expect(readFileSync(path, 'utf8')).toBe('new');
  expect(statSync(path).mode & 0o777).toBe(0o640);
  expect(readdirSync(folder)).toEqual(['kept']);
});

it('saveWhole accepts any name that a file can have', async () => {
  const name = 'n'.repeat(255);
  await saveWhole(piecesOf('here'), join(folder, name));
  expect(readFileSync(join(folder, name), 'utf8')).toBe('here');
});

it('saveWhole writes to the target of a symbolic link, and keeps the link', async () => {
  writeFileSync(join(folder, 'target'), 'old');
  symlinkSync('target', join(folder, 'link'));
  await saveWhole(piecesOf('new'), join(folder, 'link'));
  expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['link', 'target']);
});

it('saveWhole writes into a pipe or device instead of replacing it', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [text] = await Promise.all([readFile(pipe, 'utf8'), saveWhole(piecesOf('through'), pipe)]);
  expect(text).toBe('through');
  expect(statSync(pipe).isFIFO()).toBe(true);
});

it.each(['pipe', 'file'])('saveWhole writes into a %s behind a file descriptor without a path', async (kind) => {
  const path = join(folder, 'gone');
  if (kind === 'pipe') execFileSync('mkfifo', [path]);
  else writeFileSync(path, 'old');
  const descriptor = openSync(path, 'r+');
  try {
    rmSync(path);
    await saveWhole(piecesOf('through'), `/dev/fd/${descriptor}`);
    const text = Buffer.alloc(20);
    expect(text.toString('utf8', 0, readSync(descriptor, text))).toBe('through');
  } finally {
    closeSync(descriptor);
  }
});

it('saveWhole follows symbolic links to a file that does not exist yet', async () => {
  mkdirSync(join(folder, 'real', 'inner'), { recursive: true });
  symlinkSync(join('real', 'inner'), join(folder, 'inner'));
  symlinkSync(join(folder, 'inner', 'second'), join(folder, 'first'));
  symlinkSync('../target', join(folder, 'real', 'inner', 'second'));
  await saveWhole(piecesOf('new'), join(folder, 'first'));
  expect(readFileSync(join(folder, 'real', 'target'), 'utf8')).toBe('new');
  expect(lstatSync(join(folder, 'first')).isSymbolicLink()).toBe(true);
  symlinkSync('none/target', join(folder, 'nowhere'));
  symlinkSync('loop', join(folder, 'loop'));
  for (const link of ['nowhere', 'loop']) {
    await expect(saveWhole(piecesOf('new'), join(folder, link))).rejects.toThrow(link);
    expect(lstatSync(join(folder, link)).isSymbolicLink()).toBe(true);
  }
});

it('beginFile makes its unfinished file no more readable than the existing one', async () => {
  const path = join(folder, 'secret');
  writeFileSync(path, 'old', { mode: 0o600 });
  const file = await beginFile(path);
  const temporary = readdirSync(folder).find((name) => name !== 'secret') ?? '';
  expect(statSync(join(folder, temporary)).mode & 0o777).toBe(0o600);
  await file.abandon();
  expect(readdirSync(folder)).toEqual(['secret']);
});

it('beginFile does not collide with a process of the same number in another container', async () => {
  const files: FileUnderWay[] = [];
  for (const name of ['one', 'two']) {
    vi.resetModules();
    const process = await import('./saved-file.js');
    files.push(await process.beginFile(join(folder, name)));
  }
  expect(files.map(({ stream }) => stream.errored)).toEqual([null, null]);
  for (const file of files) await file.abandon();
});
