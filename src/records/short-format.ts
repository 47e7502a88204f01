/**
 * Format 2 of a stored record: the values of its members, without the text around them, and none twice.
 *
 *   u8        format (2)
 *   u8        flags: 1 = the name is the id, from which it was made, and is left out; 2 = the time of creation follows,
 *             because it differs from that in the id; 4 = the time of the last change, because it differs from that of
 *             creation; 8 = as_of, because it differs from the last change; 16 = the record came from a source, which
 *             follows
 *   16 bytes  id, a UUID
 *   f64 ×     the times given by the flags, in their order: whole milliseconds since 1970
 *   varint, … source: number of bytes, and these: a JSON string without its quotes; only with flag 16
 *   varint, … name, likewise; not with flag 1
 *   fields    {…}   (to the end; facet values are arrays)
 *
 * Little-endian; varints are LEB128 of at most four bytes. Pure functions over bytes that the caller owns.
 */
import { isoTime, isTime, TIME_CHARACTERS } from './iso-time.js';
import { bufferOf, DamagedRecordError, parseFragment, RecordParts, type FragmentWriter } from './record-parts.js';
import type { StoredRecord } from './types.js';
import type { RecordRoom } from './record-room.js';
import { behindVarint, varint, VARINT_MAX } from './varints.js';

export const SHORT_FORMAT = 2;
const FLAG_NAME_IS_ID = 1;
const FLAG_CREATED = 2;
const FLAG_MODIFIED = 4;
const FLAG_AS_OF = 8;
const FLAG_SOURCE = 16;
const FLAGS = FLAG_NAME_IS_ID | FLAG_CREATED | FLAG_MODIFIED | FLAG_AS_OF | FLAG_SOURCE;
const ID_AT = 2;
const ID_BYTES = 16;
const ID_CHARACTERS = 36;
const HEADER_BYTES = ID_AT + ID_BYTES;
const TIME_BYTES = Float64Array.BYTES_PER_ELEMENT;
const EMPTY_OBJECT_BYTES = 2;
const RESOURCE_FRAME_BYTES =
  '{"id":"","name":"","fields":,"as_of":"","created_utc":"","modified_utc":""}'.length +
  ID_CHARACTERS +
  3 * TIME_CHARACTERS;
const SOURCE_FRAME_BYTES = ',"source":""'.length;
const DASH = 0x2d;
const NO_DIGIT = 0xff;
const DIGIT_OF_CODE = new Uint8Array(128).fill(NO_DIGIT);
for (const [digit, code] of Buffer.from('0123456789abcdef').entries()) DIGIT_OF_CODE[code] = digit;
/** Matches every character that JSON escapes in a string, and some others. */
const ESCAPED = /["\\\p{Cc}\p{Cs}]/u;
/** Maximum length of a name, such that a varint can hold its number of bytes, whatever its characters. */
const TEXT_UNITS_MAX = Math.floor(VARINT_MAX / 3);

/** Offsets of the parts from the beginning of the record. */
interface Offsets {
  readonly flags: number;
  readonly sourceBegin: number;
  readonly sourceEnd: number;
  readonly nameBegin: number;
  readonly nameEnd: number;
  readonly fields: number;
  readonly end: number;
}

class ShortParts extends RecordParts {
  constructor(
    bytes: Uint8Array,
    begin: number,
    private readonly at: Offsets,
  ) {
    super(bytes, begin, begin + at.fields, begin + at.end);
  }

  writeHead(writer: FragmentWriter): void {
    const { bytes, begin, at } = this;
    writer.ascii('"id":"');
    writer.uuid(bytes, begin + ID_AT);
    writer.ascii('","name":"');
    if ((at.flags & FLAG_NAME_IS_ID) === 0) writer.bytes(bytes, begin + at.nameBegin, begin + at.nameEnd);
    else writer.uuid(bytes, begin + ID_AT);
    writer.ascii('"');
  }

  writeAsOf(writer: FragmentWriter): void {
    const { bytes, begin, at } = this;
    writer.ascii('"as_of":"');
    writer.ascii(isoTime(this.asOfMs));
    writer.ascii('"');
    if ((at.flags & FLAG_SOURCE) === 0) return;
    writer.ascii(',"source":"');
    writer.bytes(bytes, begin + at.sourceBegin, begin + at.sourceEnd);
    writer.ascii('"');
  }

  writeTimes(writer: FragmentWriter): void {
    writer.ascii('"created_utc":"');
    writer.ascii(isoTime(this.createdMs));
    writer.ascii('","modified_utc":"');
    writer.ascii(isoTime(this.modifiedMs));
    writer.ascii('"');
  }

  get id(): string {
    return uuidText(this.bytes, this.begin + ID_AT);
  }

  get nameJson(): Uint8Array {
    const { at } = this;
    if ((at.flags & FLAG_NAME_IS_ID) !== 0) return Buffer.from(`"${this.id}"`);
    return Buffer.from(`"${this.text(at.nameBegin, at.nameEnd)}"`);
  }

  get createdMs(): number {
    if ((this.at.flags & FLAG_CREATED) !== 0) return this.time(0);
    return timeOfId(this.bytes, this.begin + ID_AT);
  }

  get modifiedMs(): number {
    const { flags } = this.at;
    return (flags & FLAG_MODIFIED) === 0 ? this.createdMs : this.time(flags & FLAG_CREATED);
  }

  private get asOfMs(): number {
    const { flags } = this.at;
    return (flags & FLAG_AS_OF) === 0 ? this.modifiedMs : this.time(flags & (FLAG_CREATED | FLAG_MODIFIED));
  }

  get resourceBytes(): number {
    const { flags, sourceBegin, sourceEnd, nameBegin, nameEnd, fields, end } = this.at;
    const name = (flags & FLAG_NAME_IS_ID) === 0 ? nameEnd - nameBegin : ID_CHARACTERS;
    const source = (flags & FLAG_SOURCE) === 0 ? 0 : SOURCE_FRAME_BYTES + sourceEnd - sourceBegin;
    return RESOURCE_FRAME_BYTES + name + source + end - fields;
  }

  stored(): StoredRecord {
    const { id } = this;
    const { flags, sourceBegin, sourceEnd } = this.at;
    const nameGenerated = (flags & FLAG_NAME_IS_ID) !== 0;
    const source = (flags & FLAG_SOURCE) === 0 ? {} : { source: this.string(sourceBegin, sourceEnd) };
    return {
      id,
      name: nameGenerated ? id : this.string(this.at.nameBegin, this.at.nameEnd),
      nameGenerated,
      asOf: isoTime(this.asOfMs),
      ...source,
      createdMs: this.createdMs,
      modifiedMs: this.modifiedMs,
      fieldsJson: this.fieldsJson,
    };
  }

  copiedTo(bytes: Uint8Array, begin: number): ShortParts {
    return new ShortParts(bytes, begin, this.at);
  }

  isOfSource(source: string): boolean {
    const { flags, sourceBegin, sourceEnd } = this.at;
    return (flags & FLAG_SOURCE) !== 0 && this.text(sourceBegin, sourceEnd) === jsonInside(source);
  }

  private text(from: number, to: number): string {
    return bufferOf(this.bytes).toString('utf8', this.begin + from, this.begin + to);
  }

  private string(from: number, to: number): string {
    return parseFragment(`"${this.text(from, to)}"`) as string;
  }

  /** Returns the time that follows those of the given flags. */
  private time(before: number): number {
    return bufferOf(this.bytes).readDoubleLE(this.begin + HEADER_BYTES + timeCount(before) * TIME_BYTES);
  }
}

/**
 * Writes the record behind the contents of `room`, and returns where its fields begin there. Returns undefined, with
 * nothing written, if the members do not have the form that the service gives them: such a record keeps the first
 * format.
 */
export function writeShortFormat(record: StoredRecord, room: RecordRoom): number | undefined {
  const { id, createdMs, modifiedMs } = record;
  const asOfMs = record.asOf === isoTime(modifiedMs) ? modifiedMs : Date.parse(record.asOf);
  if (!isTime(createdMs) || !isTime(modifiedMs) || !isTime(asOfMs) || isoTime(asOfMs) !== record.asOf) return undefined;
  if (record.nameGenerated && record.name !== id) return undefined;
  const source = record.source === undefined ? '' : jsonInside(record.source);
  const name = record.nameGenerated ? '' : jsonInside(record.name);
  if (source.length > TEXT_UNITS_MAX || name.length > TEXT_UNITS_MAX) return undefined;
  room.reserve(HEADER_BYTES);
  const begin = room.length;
  const { buffer } = room;
  if (!parseUuid(id, buffer, begin + ID_AT)) return undefined;
  const flags =
    (record.nameGenerated ? FLAG_NAME_IS_ID : 0) |
    (createdMs === timeOfId(buffer, begin + ID_AT) ? 0 : FLAG_CREATED) |
    (modifiedMs === createdMs ? 0 : FLAG_MODIFIED) |
    (asOfMs === modifiedMs ? 0 : FLAG_AS_OF) |
    (record.source === undefined ? 0 : FLAG_SOURCE);
  buffer[begin] = SHORT_FORMAT;
  buffer[begin + 1] = flags;
  room.length += HEADER_BYTES;
  if ((flags & FLAG_CREATED) !== 0) room.f64(createdMs);
  if ((flags & FLAG_MODIFIED) !== 0) room.f64(modifiedMs);
  if ((flags & FLAG_AS_OF) !== 0) room.f64(asOfMs);
  if ((flags & FLAG_SOURCE) !== 0) room.countedText(source);
  if ((flags & FLAG_NAME_IS_ID) === 0) room.countedText(name);
  const fields = room.length;
  room.text(record.fieldsJson);
  return fields;
}

/**
 * Reads the record between `begin` and `end`. Throws DamagedRecordError if the header is invalid, or the lengths in it
 * do not match the bytes.
 */
export function readShortFormat(bytes: Uint8Array, begin = 0, end = bytes.length): ShortParts {
  const flags = begin + 1 < end ? (bytes[begin + 1] as number) : FLAGS + 1;
  if (flags > FLAGS) throw new DamagedRecordError('unknown members of a record');
  const namesAt = begin + HEADER_BYTES + timeCount(flags) * TIME_BYTES;
  let [at, sourceBegin, nameBegin] = [namesAt, namesAt, namesAt];
  let [sourceEnd, nameEnd] = [namesAt, namesAt];
  if ((flags & FLAG_SOURCE) !== 0) {
    sourceBegin = behindVarint(bytes, at, end);
    at = sourceEnd = sourceBegin + varint(bytes, at, end);
  }
  if ((flags & FLAG_NAME_IS_ID) === 0) {
    nameBegin = behindVarint(bytes, at, end);
    at = nameEnd = nameBegin + varint(bytes, at, end);
  }
  if (at + EMPTY_OBJECT_BYTES > end) {
    throw new DamagedRecordError('a record is shorter than its header says');
  }
  checkTimes(bytes, flags, begin);
  return new ShortParts(bytes, begin, {
    flags,
    sourceBegin: sourceBegin - begin,
    sourceEnd: sourceEnd - begin,
    nameBegin: nameBegin - begin,
    nameEnd: nameEnd - begin,
    fields: at - begin,
    end: end - begin,
  });
}

/** Returns the id of a record, even if the rest cannot be read; undefined if the bytes are too short for one. */
export function idOfShortFormat(bytes: Uint8Array): string | undefined {
  if (bytes.length < HEADER_BYTES) return undefined;
  return uuidText(bytes, ID_AT);
}

function checkTimes(bytes: Uint8Array, flags: number, begin: number): void {
  const timesBegin = begin + HEADER_BYTES;
  const timesEnd = timesBegin + timeCount(flags) * TIME_BYTES;
  for (let at = timesBegin; at < timesEnd; at += TIME_BYTES) {
    if (!isTime(bufferOf(bytes).readDoubleLE(at))) throw new DamagedRecordError('a time of a record is none');
  }
  if ((flags & FLAG_CREATED) === 0 && !isTime(timeOfId(bytes, begin + ID_AT)))
    throw new DamagedRecordError('a time of a record is none');
}

function timeCount(flags: number): number {
  return ((flags >> 1) & 1) + ((flags >> 2) & 1) + ((flags >> 3) & 1);
}

/** Returns the time in a UUIDv7: its first 48 bits. */
function timeOfId(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  const low = ((bytes[at + 2] as number) << 24) | ((bytes[at + 3] as number) << 16) | ((bytes[at + 4] as number) << 8);
  return high * 2 ** 32 + ((low | (bytes[at + 5] as number)) >>> 0);
}

function uuidText(bytes: Uint8Array, at: number): string {
  const hex = bufferOf(bytes).toString('hex', at, at + ID_BYTES);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Positions in the text of a UUID: of its dashes, and of the two digits of each byte. */
const DASH_PLACES = Uint8Array.of(8, 13, 18, 23);
const PLACES_OF_BYTES = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);

/** Returns false if it is not a UUID with lower-case digits. */
function parseUuid(id: string, bytes: Uint8Array, begin: number): boolean {
  if (id.length !== ID_CHARACTERS) return false;
  let wrong = 0;
  for (let index = 0; index < ID_BYTES; index += 1) {
    const place = PLACES_OF_BYTES[index] as number;
    const high = DIGIT_OF_CODE[id.charCodeAt(place)] ?? NO_DIGIT;
    const low = DIGIT_OF_CODE[id.charCodeAt(place + 1)] ?? NO_DIGIT;
    wrong |= high | low;
    bytes[begin + index] = (high << 4) | low;
  }
  for (const place of DASH_PLACES) wrong |= id.charCodeAt(place) === DASH ? 0 : NO_DIGIT;
  return wrong < 16;
}

/** Returns the JSON of a string without its quotes. */
function jsonInside(text: string): string {
  return ESCAPED.test(text) ? JSON.stringify(text).slice(1, -1) : text;
}
