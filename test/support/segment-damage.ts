/** Makes real segment files unusable in various ways. */
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { kernelConstant } from '../../native-bindings/index.js';
import { segmentsPath } from '../../src/store/index.js';

const PAGE_BYTES = 4096;

/** Returns the paths of the list's segments, oldest first. */
export function segmentFilesOf(listPath: string): string[] {
  const folder = segmentsPath(listPath);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.mdb'))
    .sort()
    .map((file) => join(folder, file));
}

/** Changes the format version, as if another release had written the segment. `from` is the version that this release writes for the list's language. */
export function changeFormat(
  path: string,
  format = kernelConstant('FormatVersion') + 1,
  from = kernelConstant('FormatVersion'),
): void {
  const bytes = readFileSync(path);
  // Node of the key `M` in its leaf page: u16 key size, the key, then the value, which begins with the version.
  const node = Buffer.from([1, 0, 'M'.charCodeAt(0), 0, 0, 0, 0]);
  node.writeUInt32LE(from, 3);
  let at = bytes.indexOf(node);
  if (at < 0) throw new Error(`${path}: the meta data was not found`);
  // After a page split, moved nodes may remain in the old page, where they are ignored.
  for (; at >= 0; at = bytes.indexOf(node, at + 1)) bytes.writeUInt32LE(format, at + 3);
  writeFileSync(path, bytes);
}

export const SEGMENT_DAMAGE: Readonly<Record<string, (path: string) => void>> = {
  'of an older format': (path) => {
    changeFormat(path, 1);
  },
  'of a newer format': (path) => {
    changeFormat(path);
  },
  missing: (path) => {
    rmSync(path);
  },
  truncated: (path) => {
    truncateSync(path, readFileSync(path).length - PAGE_BYTES);
  },
  empty: (path) => {
    truncateSync(path, 0);
  },
  'with flipped bytes': (path) => {
    const bytes = readFileSync(path);
    for (let at = 2 * PAGE_BYTES; at < bytes.length; at += PAGE_BYTES)
      bytes.writeUInt32LE(~bytes.readUInt32LE(at) >>> 0, at);
    writeFileSync(path, bytes);
  },
};
