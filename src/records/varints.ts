/** LEB128 varints of at most four bytes, as records use them. Pure. */
import { DamagedRecordError } from './record-parts.js';

export const VARINT_BYTES_MAX = 4;
export const VARINT_MAX = 2 ** 28 - 1;

/** Returns the end of the varint. */
export function writeVarint(value: number, bytes: Uint8Array, begin: number): number {
  let [rest, at] = [value, begin];
  for (; rest >= 0x80; rest >>>= 7, at += 1) bytes[at] = (rest & 0x7f) | 0x80;
  bytes[at] = rest;
  return at + 1;
}

/** Throws DamagedRecordError for more than four bytes. Bytes from `end` on are read as zeros. */
export function varint(bytes: Uint8Array, begin: number, end = bytes.length): number {
  let value = 0;
  for (let count = 0; count < VARINT_BYTES_MAX; count += 1) {
    const byte = begin + count < end ? (bytes[begin + count] as number) : 0;
    value |= (byte & 0x7f) << (7 * count);
    if (byte < 0x80) return value;
  }
  throw new DamagedRecordError('a length in a record is none');
}

export function behindVarint(bytes: Uint8Array, begin: number, end = bytes.length): number {
  let at = begin;
  while (at < end && (bytes[at] as number) >= 0x80) at += 1;
  return at + 1;
}
