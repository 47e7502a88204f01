/**
 * Identifiers: UUIDv7 (RFC 9562), and record ids, which are UUIDv7 that carry the record's number, so that reading a
 * record by id needs no index of ids.
 *
 *   tttttttt-tttt-7rrr-Vnnn-nnnnnRRRRRRR     t: Unix milliseconds, r/R: random, n: record number (32 bits),
 *                                            V: variant (2 bits) and 2 random bits
 */
import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8192;
const RECORD_NUMBER_MAX = 0xffff_ffff;

const pool = Buffer.allocUnsafe(POOL_BYTES);
let poolPosition = POOL_BYTES;

const HEX_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** Returns the position of `count` fresh random bytes in the pool: one system call per 8 KiB instead of one per id. */
function takeRandom(count: number): number {
  if (poolPosition + count > POOL_BYTES) {
    randomFillSync(pool);
    poolPosition = 0;
  }
  const position = poolPosition;
  poolPosition += count;
  return position;
}

function hexByte(byte: number): string {
  return HEX_OF_BYTE[byte & 0xff] as string;
}

function hex16(value: number): string {
  return hexByte(value >>> 8) + hexByte(value);
}

/** Returns `tttttttt-tttt-7rrr-`: the first half, with 12 random bits. */
function timeHalf(nowMs: number, random: number): string {
  const high = Math.floor(nowMs / 0x1_0000_0000);
  const low = nowMs >>> 0;
  return `${hex16(high)}${hex16(low >>> 16)}-${hex16(low)}-${hex16(0x7000 | (random & 0x0fff))}-`;
}

const HEX_CODES_OF_BYTE = Uint16Array.from(HEX_OF_BYTE, (digits) => digits.charCodeAt(0) | (digits.charCodeAt(1) << 8));
/** Positions of random bytes, each two digits; a group of three digits is two overlapping bytes. */
const RANDOM_PLACES = Uint8Array.of(15, 16, 20, 21, 24, 26, 28, 30, 32, 34);
const VARIANT_PLACE = 19;
const VARIANT_CODES = Uint8Array.from('89ab', (digit) => digit.charCodeAt(0));

/**
 * The last UUIDv7 as ASCII. Consecutive ones often have the same time, and creating a string from bytes costs half as
 * much as joining it from pieces.
 */
const uuid = Buffer.from('00000000-0000-7000-8000-000000000000');
let uuidMs = 0;

/** Returns a UUIDv7 of this moment. */
export function uuidv7(nowMs = Date.now()): string {
  if (nowMs !== uuidMs) {
    uuid.write(timeHalf(nowMs, 0), 'latin1');
    uuidMs = nowMs;
  }
  const count = RANDOM_PLACES.length;
  const at = takeRandom(count + 1);
  for (let index = 0; index < count; ++index) {
    const codes = HEX_CODES_OF_BYTE[pool[at + index] as number] as number;
    const place = RANDOM_PLACES[index] as number;
    uuid[place] = codes & 0xff;
    uuid[place + 1] = codes >>> 8;
  }
  uuid[VARIANT_PLACE] = VARIANT_CODES[(pool[at + count] as number) & 3] as number;
  return uuid.toString('latin1');
}

/** Returns the id of a record: its number is 0 to 2^32 - 1. Throws RangeError for other numbers. */
export function recordId(recordNumber: number, nowMs: number): string {
  if (!Number.isInteger(recordNumber) || recordNumber < 0 || recordNumber > RECORD_NUMBER_MAX) {
    throw new RangeError(`A record number is an integer of 32 bits, not ${String(recordNumber)}`);
  }
  const at = takeRandom(7);
  const head = timeHalf(nowMs, pool.readUInt16LE(at));
  const third = 0x8000 | (((pool[at + 2] as number) & 0x30) << 8) | (recordNumber >>> 20);
  const fourth = ((recordNumber & 0xf_ffff) << 4) >>> 0;
  const random = pool.readUInt32LE(at + 3);
  return `${head}${hex16(third)}-${hex16(fourth >>> 8)}${hexByte((fourth & 0xf0) | (random & 0x0f))}${hex16(random >>> 4)}${hexByte(random >>> 20)}`;
}

/** Returns the number that a record id carries; undefined if the text is not a lower-case UUIDv7. */
export function recordNumberOf(id: string): number | undefined {
  if (!UUID_PATTERN.test(id)) return undefined;
  return Number.parseInt(id.slice(20, 23) + id.slice(24, 29), 16);
}
