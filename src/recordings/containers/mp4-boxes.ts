/**
 * Boxes of an MP4 or QuickTime file. A box that exceeds its parent ends the iteration. Pure functions. Source: ISO/IEC
 * 14496-12, 4.2.
 */
import type { ByteView } from './byte-view.js';

export interface Box {
  readonly type: string;
  /** Offset of its header. */
  readonly start: number;
  /** Offset of its content. */
  readonly begin: number;
  readonly end: number;
}

/** Bytes in the file that belong to one moment of a track. */
export interface Sample {
  readonly begin: number;
  readonly end: number;
  /** In the track's time units. */
  readonly time: number;
}

const HEADER_BYTES = 8;
const LONG_HEADER_BYTES = 16;
/** Version and flags at the beginning of a full box. */
export const FULL_BOX_BYTES = 4;

export function* boxesOf(file: ByteView, { begin, end }: Pick<Box, 'begin' | 'end'>): Iterable<Box> {
  for (let offset = begin; offset + HEADER_BYTES <= end;) {
    const short = file.number(offset, 4);
    const isLong = short === 1;
    const size = short === 0 ? end - offset : isLong ? file.number(offset + HEADER_BYTES, 8) : short;
    const header = isLong ? LONG_HEADER_BYTES : HEADER_BYTES;
    if (size < header || offset + size > end) return;
    yield { type: file.letters(offset + 4), start: offset, begin: offset + header, end: offset + size };
    offset += size;
  }
}

/** Returns the first box with this path. Undefined if there is none. */
export function childOf(
  file: ByteView,
  parent: Pick<Box, 'begin' | 'end'> | undefined,
  ...[wanted, ...rest]: readonly string[]
): Box | undefined {
  if (parent === undefined) return undefined;
  for (const box of boxesOf(file, parent)) {
    if (box.type === wanted) return rest.length === 0 ? box : childOf(file, box, ...rest);
  }
  return undefined;
}

export function isVersion1(file: ByteView, { begin }: Box): boolean {
  return file.number(begin, 1) === 1;
}
