/**
 * Counts the records of an import while its bytes pass by, without parsing them: for the progress bar, and to find a place
 * where a long NDJSON file may be cut into several requests. The service alone decides what is a good record.
 */
import type { RecordFormat } from '../records/index.js';

export interface RecordCounter {
  /** Looks at the next bytes. */
  push(chunk: Uint8Array): void;
  /** Records that have ended so far. */
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
 * Lines outside quotes; a doubled quote inside a quoted value closes and opens it again. The heading is not a record. A carriage return alone ends
 * a line, too; of UTF-16 an empty byte follows it.
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

/** Elements of the outer array that are objects. */
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
