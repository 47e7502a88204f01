/**
 * Counts the records of an import without parsing them, for the progress bar and for cutting a long NDJSON file into
 * requests. Only the service decides which records are valid.
 */
import type { RecordFormat } from '../records/index.js';

export interface RecordCounter {
  /** Processes the next bytes. */
  push(chunk: Uint8Array): void;
  /** Number of records that have ended so far. */
  readonly count: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = new Set([0x5b, 0x7b]);
const CLOSE = new Set([0x5d, 0x7d]);

export function createRecordCounter(format: RecordFormat): RecordCounter {
  switch (format) {
    case 'ndjson':
      return new LineCounter();
    case 'csv':
      return new CsvCounter();
    case 'json':
      return new ArrayCounter();
  }
}

class LineCounter implements RecordCounter {
  count = 0;

  push(chunk: Uint8Array): void {
    for (let at = chunk.indexOf(LINE_FEED); at >= 0; at = chunk.indexOf(LINE_FEED, at + 1)) this.count += 1;
  }
}

/**
 * Counts lines outside quotes; a doubled quote within a quoted value closes and reopens it. The heading is not a
 * record. A carriage return alone also ends a line; in UTF-16, a zero byte follows it.
 */
class CsvCounter implements RecordCounter {
  #lines = 0;
  #quoted = false;
  #returned = false;

  get count(): number {
    return Math.max(0, this.#lines + Number(this.#returned) - 1);
  }

  push(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#returned && byte !== LINE_FEED && byte !== 0) this.#lines += 1;
      this.#returned = byte === CARRIAGE_RETURN && !this.#quoted;
      if (byte === QUOTE) this.#quoted = !this.#quoted;
      else if (byte === LINE_FEED && !this.#quoted) this.#lines += 1;
    }
  }
}

/** Counts elements of the outer array that are objects. */
class ArrayCounter implements RecordCounter {
  count = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  push(chunk: Uint8Array): void {
    for (const byte of chunk) {
      if (this.#inString) this.#insideString(byte);
      else if (byte === QUOTE) this.#inString = true;
      else if (OPEN.has(byte)) this.#depth += 1;
      else if (CLOSE.has(byte)) {
        this.#depth -= 1;
        if (this.#depth === 1) this.count += 1;
      }
    }
  }

  #insideString(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inString = false;
  }
}
