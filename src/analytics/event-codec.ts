/**
 * Encoding of events: written by the front end, stored as they are, read by roll-ups. `docs/formats.md` describes it.
 *
 *   event    u16 length of what follows, u8 head, then by kind:
 *     search   16 bytes query id, varint length and bytes of the term,
 *              with REORDERED: varint number of shown results, and for each u32 result hash, varint place before (from 0)
 *     click    u48 milliseconds, with JOINABLE: 16 bytes query id; varint length and bytes of the result's name, varint
 *              length and bytes of the list's name (empty: not given)
 *
 * Integers are little-endian. A query id is a UUIDv7, which begins with the time of its search in milliseconds.
 */
import { resultHash } from './hash.js';

export const EVENT_KINDS = { search: 1, click: 2 } as const;
const KIND_MASK = 0x0f;
const ZERO_RESULTS = 0x10;
const REORDERED = 0x20;
const JOINABLE = 0x40;

export const QUERY_ID_BYTES = 16;
export const EVENT_LENGTH_BYTES = 2;
const EVENT_BYTES_MAX = 0xffff;
const TIME_BYTES = 6;
const VARINT_BYTES_MAX = 5;
const UTF8_BYTES_PER_UNIT_MAX = 3;
/** Bytes of a search event without its term and its shown results. */
const SEARCH_ROOM = EVENT_LENGTH_BYTES + 1 + QUERY_ID_BYTES + 2 * VARINT_BYTES_MAX;
/** Number of shown results whose places are stored: the first ones. */
export const SHOWN_RESULTS_MAX = 1000;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export interface ShownResult {
  readonly name: string;
  /** Only for a group search. */
  readonly listName?: string;
  /** Place before the reranker, from 0. */
  readonly placeBefore: number;
}

export interface SearchEvent {
  /** UUIDv7. */
  readonly queryId: string;
  /** Result of `searchTerm`. */
  readonly term: string;
  readonly hasResults: boolean;
  /** Only if a reranker ran: the results in the order in which they are shown. */
  readonly shown?: readonly ShownResult[] | undefined;
}

export interface ClickEvent {
  readonly timeMs: number;
  /** As the client sent it. If it is not a UUID, the click counts, but belongs to no search. */
  readonly queryId: string;
  readonly resultName: string;
  /** Only for group clicks, if it was given. */
  readonly listName?: string;
}

/** Returns the maximum of bytes that the event needs. */
export function searchEventRoom({ term, shown }: SearchEvent): number {
  const plain = SEARCH_ROOM + term.length * UTF8_BYTES_PER_UNIT_MAX;
  return shown === undefined ? plain : plain + Math.min(shown.length, SHOWN_RESULTS_MAX) * (4 + VARINT_BYTES_MAX);
}

/** Returns the maximum of bytes that the event needs. */
export function clickEventRoom({ resultName, listName = '' }: ClickEvent): number {
  const text = (resultName.length + listName.length) * UTF8_BYTES_PER_UNIT_MAX;
  return EVENT_LENGTH_BYTES + 1 + TIME_BYTES + QUERY_ID_BYTES + 2 * VARINT_BYTES_MAX + text;
}

/** Writes the event at `begin` and returns its end. The buffer must have `searchEventRoom` bytes there. */
export function writeSearchEvent(buffer: Buffer, begin: number, event: SearchEvent): number {
  const { shown } = event;
  let at = begin + EVENT_LENGTH_BYTES;
  const flags = (event.hasResults ? 0 : ZERO_RESULTS) | (shown === undefined ? 0 : REORDERED);
  buffer[at++] = EVENT_KINDS.search | flags;
  at = writeUuid(buffer, at, event.queryId);
  at = writeText(buffer, at, event.term);
  if (shown !== undefined) at = writeShown(buffer, at, shown.slice(0, SHOWN_RESULTS_MAX));
  return finishEvent(buffer, begin, at);
}

/** As `writeSearchEvent`, with `clickEventRoom` bytes. */
export function writeClickEvent(buffer: Buffer, begin: number, event: ClickEvent): number {
  let at = begin + EVENT_LENGTH_BYTES;
  const isJoinable = UUID.test(event.queryId);
  buffer[at++] = EVENT_KINDS.click | (isJoinable ? JOINABLE : 0);
  at = buffer.writeUIntLE(event.timeMs, at, TIME_BYTES);
  if (isJoinable) at = writeUuid(buffer, at, event.queryId);
  at = writeText(buffer, at, event.resultName);
  at = writeText(buffer, at, event.listName ?? '');
  return finishEvent(buffer, begin, at);
}

function finishEvent(buffer: Buffer, begin: number, end: number): number {
  const length = end - begin - EVENT_LENGTH_BYTES;
  if (length > EVENT_BYTES_MAX) throw new RangeError(`An event of ${length} bytes is too long`);
  buffer[begin] = length & 0xff;
  buffer[begin + 1] = length >>> 8;
  return end;
}

function writeShown(buffer: Buffer, begin: number, shown: readonly ShownResult[]): number {
  let at = writeVarint(buffer, begin, shown.length);
  for (const { name, listName = '', placeBefore } of shown) {
    at = buffer.writeUInt32LE(resultHash(Buffer.from(listName), Buffer.from(name)), at);
    at = writeVarint(buffer, at, placeBefore);
  }
  return at;
}

function writeText(buffer: Buffer, begin: number, text: string): number {
  const { length } = text;
  if (length < 0x80) {
    // Most texts are short and ASCII, and copying them here is faster than a call into the runtime.
    let at = begin;
    buffer[at++] = length;
    for (let index = 0; index < length; ++index) {
      const unit = text.charCodeAt(index);
      if (unit >= 0x80) return writeLongText(buffer, begin, text);
      buffer[at++] = unit;
    }
    return at;
  }
  return writeLongText(buffer, begin, text);
}

function writeLongText(buffer: Buffer, begin: number, text: string): number {
  const bytes = Buffer.from(text, 'utf8');
  const at = writeVarint(buffer, begin, bytes.length);
  buffer.set(bytes, at);
  return at + bytes.length;
}

function writeVarint(buffer: Buffer, begin: number, value: number): number {
  let at = begin;
  let left = value;
  while (left >= 0x80) {
    buffer[at++] = (left & 0x7f) | 0x80;
    left >>>= 7;
  }
  buffer[at++] = left;
  return at;
}

const HEX_VALUES = new Uint8Array(128);
for (let digit = 0; digit < 16; ++digit) {
  HEX_VALUES[digit.toString(16).charCodeAt(0)] = digit;
  HEX_VALUES[digit.toString(16).toUpperCase().charCodeAt(0)] = digit;
}
/** Positions of the bytes of a UUID in its text. */
const UUID_PLACES = Uint8Array.from([0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]);

function writeUuid(buffer: Buffer, begin: number, uuid: string): number {
  for (let index = 0; index < QUERY_ID_BYTES; ++index) {
    const place = UUID_PLACES[index] as number;
    const high = HEX_VALUES[uuid.charCodeAt(place)] as number;
    const low = HEX_VALUES[uuid.charCodeAt(place + 1)] as number;
    buffer[begin + index] = (high << 4) | low;
  }
  return begin + QUERY_ID_BYTES;
}

/**
 * Iterates over events in untrusted bytes. The members describe the event that `next` moved to; positions are offsets
 * into `bytes`. Belongs to one thread; reused by `reset`, so that reading allocates nothing.
 */
export class EventReader {
  bytes: Uint8Array = new Uint8Array();
  /** True after something that is not an event; nothing after it is read. */
  isDamaged = false;
  kind: (typeof EVENT_KINDS)[keyof typeof EVENT_KINDS] = EVENT_KINDS.search;
  hasResults = false;
  /** Start of the query id; −1 for a click if the id that the client sent is not a UUID. */
  idBegin = -1;
  /** The term of a search, or the name of the result of a click. */
  textBegin = 0;
  textEnd = 0;
  /** Only for a click. */
  listNameBegin = 0;
  listNameEnd = 0;
  /** Only for a search; 0 if no reranker ran. */
  shownCount = 0;
  private shownAt = 0;
  isReordered = false;
  /** Milliseconds. */
  timeMs = 0;
  private position = 0;
  private eventEnd = 0;

  reset(bytes: Uint8Array): this {
    this.bytes = bytes;
    this.position = 0;
    this.isDamaged = false;
    return this;
  }

  /** Moves to the next event. Returns false at the end, or if the bytes are damaged. */
  next(): boolean {
    const { bytes, position } = this;
    if (position === bytes.length || this.isDamaged) return false;
    const length = (bytes[position] as number) | ((bytes[position + 1] ?? 0) << 8);
    const begin = position + EVENT_LENGTH_BYTES;
    const end = begin + length;
    if (length === 0 || end > bytes.length) return this.damaged();
    this.position = end;
    this.eventEnd = end;
    const head = bytes[begin] as number;
    switch (head & KIND_MASK) {
      case EVENT_KINDS.search:
        return this.readSearch(begin + 1, head);
      case EVENT_KINDS.click:
        return this.readClick(begin + 1, head);
      default:
        return this.damaged();
    }
  }

  /**
   * Kind of the next event, without reading it; undefined at the end. Used with `skip` by passes that want one kind
   * only.
   */
  get nextKind(): number | undefined {
    const head = this.isDamaged ? undefined : this.bytes[this.position + EVENT_LENGTH_BYTES];
    return head === undefined ? undefined : head & KIND_MASK;
  }

  skip(): void {
    const { bytes, position } = this;
    const length = (bytes[position] as number) | ((bytes[position + 1] ?? 0) << 8);
    const end = position + EVENT_LENGTH_BYTES + length;
    if (length === 0 || end > bytes.length) this.isDamaged = true;
    else this.position = end;
  }

  /**
   * Calls `use` with the place of each shown result before the reranker, in the order shown. Returns false if the bytes
   * are damaged.
   */
  readShown(use: (resultHash: number, placeBefore: number, placeAfter: number) => void): boolean {
    const { bytes } = this;
    let at = this.shownAt;
    for (let placeAfter = 0; placeAfter < this.shownCount; ++placeAfter) {
      if (at + 4 > this.eventEnd) return this.damaged();
      const hash =
        ((bytes[at] as number) |
          ((bytes[at + 1] as number) << 8) |
          ((bytes[at + 2] as number) << 16) |
          ((bytes[at + 3] as number) << 24)) >>>
        0;
      at += 4;
      const before = this.varint(at);
      if (before < 0) return false;
      at = this.varintEnd;
      use(hash, before, placeAfter);
    }
    return true;
  }

  private readSearch(begin: number, head: number): boolean {
    const textAt = begin + QUERY_ID_BYTES;
    if (textAt >= this.eventEnd) return this.damaged();
    this.kind = EVENT_KINDS.search;
    this.hasResults = (head & ZERO_RESULTS) === 0;
    this.idBegin = begin;
    this.timeMs = queryIdTimeMs(this.bytes, begin);
    if (!this.text(textAt)) return false;
    this.isReordered = (head & REORDERED) !== 0;
    this.shownCount = 0;
    if (!this.isReordered) return true;
    this.shownCount = this.varint(this.textEnd);
    this.shownAt = this.varintEnd;
    return this.shownCount >= 0 && (this.shownCount <= SHOWN_RESULTS_MAX || this.damaged());
  }

  private readClick(begin: number, head: number): boolean {
    const { bytes } = this;
    const isJoinable = (head & JOINABLE) !== 0;
    const textAt = begin + TIME_BYTES + (isJoinable ? QUERY_ID_BYTES : 0);
    if (textAt >= this.eventEnd) return this.damaged();
    this.kind = EVENT_KINDS.click;
    this.timeMs =
      unsigned32(bytes, begin) + ((bytes[begin + 4] as number) | ((bytes[begin + 5] as number) << 8)) * 2 ** 32;
    this.idBegin = isJoinable ? begin + TIME_BYTES : -1;
    if (!this.text(textAt)) return false;
    const [nameBegin, nameEnd] = [this.textBegin, this.textEnd];
    if (!this.text(nameEnd)) return false;
    this.listNameBegin = this.textBegin;
    this.listNameEnd = this.textEnd;
    this.textBegin = nameBegin;
    this.textEnd = nameEnd;
    return true;
  }

  /** Reads a length and so many bytes, which must lie within the event. */
  private text(begin: number): boolean {
    const length = this.varint(begin);
    if (length < 0) return false;
    this.textBegin = this.varintEnd;
    this.textEnd = this.textBegin + length;
    return this.textEnd <= this.eventEnd || this.damaged();
  }

  private varintEnd = 0;

  /** Returns −1 if the bytes are damaged. */
  private varint(begin: number): number {
    const { bytes } = this;
    let value = 0;
    for (let index = 0; index < VARINT_BYTES_MAX; ++index) {
      if (begin + index >= this.eventEnd) break;
      const byte = bytes[begin + index] as number;
      value += (byte & 0x7f) * 2 ** (7 * index);
      if (byte < 0x80) {
        this.varintEnd = begin + index + 1;
        return value;
      }
    }
    this.damaged();
    return -1;
  }

  private damaged(): false {
    this.isDamaged = true;
    return false;
  }
}

function unsigned32(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)) >>>
    0
  );
}

/** Returns the milliseconds with which a UUIDv7 begins (big-endian). */
export function queryIdTimeMs(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
  const low =
    (((bytes[at + 2] as number) << 24) |
      ((bytes[at + 3] as number) << 16) |
      ((bytes[at + 4] as number) << 8) |
      (bytes[at + 5] as number)) >>>
    0;
  return high * 2 ** 32 + low;
}
