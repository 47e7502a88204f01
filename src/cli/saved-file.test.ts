/** Files of this machine that commands write. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { saveWhole } from './saved-file.js';

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

it('take the place of what was there when they are whole, and nothing is left of them otherwise', async () => {
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

it('may have any name that a file can have', async () => {
  const name = 'n'.repeat(255);
  await saveWhole(piecesOf('here'), join(folder, name));
  expect(readFileSync(join(folder, name), 'utf8')).toBe('here');
});

it('go where a link leads, which stays one', async () => {
  writeFileSync(join(folder, 'target'), 'old');
  symlinkSync('target', join(folder, 'link'));
  await saveWhole(piecesOf('new'), join(folder, 'link'));
  expect(readFileSync(join(folder, 'target'), 'utf8')).toBe('new');
  expect(readdirSync(folder)).toEqual(['link', 'target']);
});

it('are written into a pipe or a device, and do not take its place', async () => {
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const [text] = await Promise.all([readFile(pipe, 'utf8'), saveWhole(piecesOf('through'), pipe)]);
  expect(text).toBe('through');
  expect(statSync(pipe).isFIFO()).toBe(true);
});
