/** Keys of `data/analytics`: big-endian, so that the rows of a target are adjacent and in order of time. Pure. */

const TARGET_BYTES = 4;
const TIME_BYTES = 6;
const SEQUENCE_BYTES = 2;
const PERIOD_BYTES = 4;
export const SEQUENCE_MAX = 0xffff;
export const BLOCK_TIME_MS_MAX = 2 ** 48 - 1;

/** Returns a key that precedes all keys of the target; that of the next number follows them all. */
export function targetKey(number: number): Buffer {
  const key = Buffer.alloc(TARGET_BYTES);
  key.writeUInt32BE(number, 0);
  return key;
}

/** Returns the key of a block of raw events: its time, and its sequence number within that millisecond. */
export function blockKey(number: number, timeMs: number, sequence: number): Buffer {
  const key = Buffer.alloc(TARGET_BYTES + TIME_BYTES + SEQUENCE_BYTES);
  key.writeUInt32BE(number, 0);
  key.writeUIntBE(timeMs, TARGET_BYTES, TIME_BYTES);
  key.writeUInt16BE(sequence, TARGET_BYTES + TIME_BYTES);
  return key;
}

export function blockTimeMs(key: Buffer): number {
  return key.readUIntBE(TARGET_BYTES, TIME_BYTES);
}

/** Returns a key between this one and all that follow it. */
export function afterBlock(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.alloc(1)]);
}

/** Returns the key of an hourly or daily roll-up, by its number since the Unix epoch. */
export function periodKey(number: number, period: number): Buffer {
  const key = Buffer.alloc(TARGET_BYTES + PERIOD_BYTES);
  key.writeUInt32BE(number, 0);
  key.writeUInt32BE(Math.max(0, period), TARGET_BYTES);
  return key;
}

export function periodOf(key: Buffer): number {
  return key.readUInt32BE(TARGET_BYTES);
}
