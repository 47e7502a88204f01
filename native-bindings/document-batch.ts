import { ByteWriter } from './byte-writer.js';
import { kernelConstant } from './index.js';

const ENTRY_TEXT = kernelConstant('EntryKindText');
const ENTRY_STRING = kernelConstant('EntryKindString');
const ENTRY_NUMBER = kernelConstant('EntryKindNumber');
const ENTRY_LOCATION = kernelConstant('EntryKindLocation');

const INITIAL_BYTES = 1 << 16;
const COUNT_BYTES = 4;
const DOCUMENT_HEADER_BYTES = 8;

/**
 * Writes the documents of a segment in the encoding of kernel/segment/document_batch.h, for Kernel.buildSegment.
 * Entries are added between begin() and end(); abandon() drops an invalid document.
 */
export class DocumentBatchWriter {
  readonly #writer = new ByteWriter(INITIAL_BYTES);
  #documentCount = 0;
  /** Offset of the open document; -1 between documents. */
  #start = -1;

  constructor() {
    this.#writer.u32(0);
  }

  /** Number of documents that have ended. */
  get documentCount(): number {
    return this.#documentCount;
  }

  /** Number of bytes written so far, including the open document. */
  get byteLength(): number {
    return this.#writer.length;
  }

  begin(recordNumber: number): void {
    if (this.#start >= 0) throw new Error('the document before has not been ended');
    this.#start = this.#writer.length;
    this.#writer.u32(recordNumber);
    this.#writer.u32(0);
  }

  text(field: number, value: string): void {
    this.#entry(ENTRY_TEXT, field);
    this.#writer.string(value);
  }

  /** Adds a string value. Comparisons use `key`; `display` may be empty if it is the same. */
  string(column: number, key: string, display: string): void {
    this.#entry(ENTRY_STRING, column);
    this.#writer.string(key);
    this.#writer.string(display === key ? '' : display);
  }

  /** Adds a number, a date (milliseconds since 1970) or a boolean (0 or 1). */
  number(column: number, value: number): void {
    this.#entry(ENTRY_NUMBER, column);
    this.#writer.f64(value);
  }

  /** Adds a location in degrees. */
  location(column: number, latitude: number, longitude: number): void {
    this.#entry(ENTRY_LOCATION, column);
    this.#writer.f64(latitude);
    this.#writer.f64(longitude);
  }

  end(): void {
    if (this.#start < 0) throw new Error('no document has been begun');
    this.#writer.patchU32(this.#start + 4, this.#writer.length - this.#start - DOCUMENT_HEADER_BYTES);
    this.#documentCount += 1;
    this.#start = -1;
  }

  /** Drops the open document, if there is one. */
  abandon(): void {
    if (this.#start >= 0) this.#writer.truncate(this.#start);
    this.#start = -1;
  }

  /** Returns the batch: a view of the writer's memory, valid until the writer is used again. */
  finish(): Uint8Array {
    if (this.#start >= 0) throw new Error('a document has not been ended');
    this.#writer.patchU32(0, this.#documentCount);
    return this.#writer.bytes();
  }

  /** Returns the bytes from `begin` on, where a document must begin: a view like that of `finish`. */
  documentsFrom(begin: number): Uint8Array {
    if (this.#start >= 0) throw new Error('a document has not been ended');
    return this.#writer.bytes().subarray(begin);
  }

  /** Starts an empty batch in the same memory. */
  reset(): void {
    this.#writer.truncate(COUNT_BYTES);
    this.#documentCount = 0;
    this.#start = -1;
  }

  #entry(kind: number, index: number): void {
    if (this.#start < 0) throw new Error('no document has been begun');
    this.#writer.u8(kind);
    this.#writer.u16(index);
  }
}
