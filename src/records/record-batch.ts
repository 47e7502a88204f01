/**
 * The records of one commit as they are written: encoded one after the other in one buffer, packed in place, and passed
 * to the store by begin and end. An object per record would cost more than encoding it. Belongs to one task of one
 * thread.
 */
import { encodeFirstFormat } from './first-format.js';
import { PACKED_BYTES_MAX } from './packed-format.js';
import { RecordRoom } from './record-room.js';
import type { PackedBatch } from './record-packer.js';
import { writeShortFormat } from './short-format.js';
import type { StoredRecord } from './types.js';

const FIRST_COUNT = 16;

/** A buffer of which only the bytes from `start` to `end` are meant, as the store takes it. */
export interface PlacedBytes extends Buffer {
  start: number;
  end: number;
}

export class RecordBatch {
  private readonly room = new RecordRoom();
  private fields = new Uint32Array(FIRST_COUNT);
  private ends = new Uint32Array(FIRST_COUNT);
  private count = 0;
  /** Total bytes of the fields that can be packed. */
  private fieldsBytes = 0;
  private value: PlacedBytes | undefined;

  /** Returns the position of the record in the batch. */
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

  /** Returns a view that is valid until the next record is added. */
  record(place: number): Buffer {
    return this.room.buffer.subarray(this.beginOf(place), this.ends[place]);
  }

  /** Returns all records, to be packed in place. Nothing may be added afterwards. */
  packable(): PackedBatch {
    const { room, count, fieldsBytes } = this;
    return {
      bytes: room.buffer.subarray(0, room.length),
      fields: this.fields.subarray(0, count),
      ends: this.ends.subarray(0, count),
      fieldsBytes,
    };
  }

  /**
   * Returns the same object on each call, so an earlier result then refers to this record. Nothing may be added
   * afterwards.
   */
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
