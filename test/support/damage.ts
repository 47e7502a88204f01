/** Damages files like a failing disk or a careless user, reproducibly for a seed. */
import { closeSync, fstatSync, ftruncateSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { SeededRandom } from './random.js';

const PAGE_BYTES = 4096;
const FLIPS_MAX = 8;
const OVERWRITTEN_BYTES_MAX = 4 * PAGE_BYTES;
/** Files without data. */
const NOT_DATA = new Set(['control.sock']);

export interface DataFile {
  readonly path: string;
  /** Such as `lists/store/data.mdb`: equal for files with the same purpose. */
  readonly kind: string;
  /** Id of the list that owns the file. */
  readonly list: string | undefined;
}

/** Returns every file below a data directory, in a fixed order. */
export function dataFiles(dataDir: string): DataFile[] {
  const found: DataFile[] = [];
  const visit = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      else if (entry.isFile() && !NOT_DATA.has(entry.name)) found.push(dataFile(dataDir, path));
    }
  };
  visit(dataDir);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

function dataFile(dataDir: string, path: string): DataFile {
  const parts = relative(dataDir, path).split('/');
  const list = parts[0] === 'lists' ? parts[1] : undefined;
  const kind = parts
    .filter((_, index) => list === undefined || index !== 1)
    .join('/')
    .replace(/[^/]+\.json$/, '*.json')
    .replace(/\d{8}\.mdb$/, '*.mdb');
  return { path, kind, list };
}

/** Damages the file in place, so that processes which have it open see it at once. Returns a description. */
export function damageFile(path: string, random: SeededRandom): string {
  const file = openSync(path, 'r+');
  try {
    const { size } = fstatSync(file);
    switch (random.pick(['truncate', 'overwrite', 'flip'] as const)) {
      case 'truncate': {
        const bytes = random.below(4) === 0 ? 0 : random.below(Math.max(1, size));
        ftruncateSync(file, bytes);
        return `cut from ${size} to ${bytes} bytes`;
      }
      case 'overwrite':
        return overwrite(file, size, random);
      case 'flip':
        return flip(file, size, random);
    }
  } finally {
    closeSync(file);
  }
}

function overwrite(file: number, size: number, random: SeededRandom): string {
  const from = random.pick(['random bytes', 'zeros', 'another page'] as const);
  if (from === 'another page' && size >= 2 * PAGE_BYTES) {
    const pages = Math.floor(size / PAGE_BYTES);
    const [source, target] = [random.below(pages), random.below(pages)];
    const page = Buffer.alloc(PAGE_BYTES);
    readSync(file, page, 0, PAGE_BYTES, source * PAGE_BYTES);
    writeSync(file, page, 0, PAGE_BYTES, target * PAGE_BYTES);
    return `page ${source} written over page ${target}`;
  }
  const begin = random.below(Math.max(1, size));
  const bytes = 1 + random.below(Math.max(1, Math.min(size - begin, OVERWRITTEN_BYTES_MAX)));
  const written = Buffer.alloc(bytes);
  if (from !== 'zeros') for (let at = 0; at < bytes; at += 1) written[at] = random.below(256);
  writeSync(file, written, 0, bytes, begin);
  return `${bytes} bytes from ${begin} overwritten by ${from}`;
}

function flip(file: number, size: number, random: SeededRandom): string {
  const places: string[] = [];
  const count = 1 + random.below(FLIPS_MAX);
  for (let index = 0; index < count && size > 0; index += 1) {
    const at = random.below(size);
    const bit = random.below(8);
    const byte = Buffer.alloc(1);
    readSync(file, byte, 0, 1, at);
    writeSync(file, Buffer.from([(byte[0] as number) ^ (1 << bit)]), 0, 1, at);
    places.push(`${at}.${bit}`);
  }
  return `bits flipped at ${places.join(', ')}`;
}
