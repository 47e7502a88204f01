/** Keys of `data/analytics`: big-endian, so that the rows of a target lie together in the order of time. Pure. */

const TARGET_BYTES = 4;
const TIME_BYTES = 6;
const SEQUENCE_BYTES = 2;
const PERIOD_BYTES = 4;
export const SEQUENCE_MAX = 0xffff;
export const BLOCK_TIME_MS_MAX = 2 ** 48 - 1;

/** Before every key of the target; of the next number, behind every one. */
export function targetKey(number: number): Buffer {
  const key = Buffer.alloc(TARGET_BYTES);
  key.writeUInt32BE(number, 0);
  return key;
}

/** Of a block of raw events: when it was appended, and which of that millisecond it is. */
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

/** Before every key behind this one. */
export function afterBlock(key: Buffer): Buffer {
  return Buffer.concat([key, Buffer.alloc(1)]);
}

/** Of the roll-up of an hour or a day, by its number since the Unix epoch. */
export function periodKey(number: number, period: number): Buffer {
  const key = Buffer.alloc(TARGET_BYTES + PERIOD_BYTES);
  key.writeUInt32BE(number, 0);
  key.writeUInt32BE(Math.max(0, period), TARGET_BYTES);
  return key;
}

export function periodOf(key: Buffer): number {
  return key.readUInt32BE(TARGET_BYTES);
}
