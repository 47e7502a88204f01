/**
 * The records of one commit as they are written: encoded one behind the other in one buffer, packed where they lie, and given to the store by
 * begin and end. An object for each would cost more than encoding it does. Belongs to one task of one thread.
 */
import { encodeFirstFormat } from './first-format.js';
import { PACKED_BYTES_MAX } from './packed-format.js';
import { RecordRoom } from './record-room.js';
import type { PackedBatch } from './record-packer.js';
import { writeShortFormat } from './short-format.js';
import type { StoredRecord } from './types.js';

const FIRST_COUNT = 16;

/** Bytes of which only those from `start` to `end` are meant, as the store takes them. */
export interface PlacedBytes extends Buffer {
  start: number;
  end: number;
}

export class RecordBatch {
  private readonly room = new RecordRoom();
  private fields = new Uint32Array(FIRST_COUNT);
  private ends = new Uint32Array(FIRST_COUNT);
  private count = 0;
  /** Of the fields that can be packed. */
  private fieldsBytes = 0;
  private value: PlacedBytes | undefined;

  /** Returns its place. */
  add(record: StoredRecord): number {
    const { room } = this;
    const begin = room.length;
    let fields = writeShortFormat(record, room);
    if (fields === undefined) room.append(encodeFirstFormat(record));
    const end = room.length;
    if (fields === undefined || end - begin > PACKED_BYTES_MAX) fields = end;
    if (this.count === this.ends.length) {
      this.fields = doubled(this.fields);
      this.ends = doubled(this.ends);
    }
    this.fields[this.count] = fields;
    this.ends[this.count] = end;
    this.fieldsBytes += end - fields;
    this.count += 1;
    return this.count - 1;
  }

  /** A view that is good until the next is added. */
  record(place: number): Buffer {
    return this.room.buffer.subarray(this.beginOf(place), this.ends[place]);
  }

  /** All of them, to be packed where they lie; nothing is added afterwards. */
  packable(): PackedBatch {
    const { room, count, fieldsBytes } = this;
    return {
      bytes: room.buffer.subarray(0, room.length),
      fields: this.fields.subarray(0, count),
      ends: this.ends.subarray(0, count),
      fieldsBytes,
    };
  }

  /** One object for all: what was returned before is this record, too. Nothing is added afterwards. */
  placed(place: number): PlacedBytes {
    const value = (this.value ??= Object.assign(this.room.buffer, { start: 0, end: 0 }));
    value.start = this.beginOf(place);
    value.end = this.ends[place] as number;
    return value;
  }

  private beginOf(place: number): number {
    return place === 0 ? 0 : (this.ends[place - 1] as number);
  }
}

function doubled(numbers: Uint32Array) {
  const result = new Uint32Array(numbers.length * 2);
  result.set(numbers);
  return result;
}
