/**
 * Texts of one piece of an answer as they are kept, deflated, one behind the other in memory that is kept: what the store reads is good until
 * its next read only, and the kernel marks the words of many at once. Belongs to one thread.
 */
const TEXTS_BYTES = 64 * 1024;
/** What long texts made larger than this is given back. */
const KEPT_BYTES_MAX = 1024 * 1024;
const TEXTS = 64;

export class PackedTexts {
  private buffer = Buffer.allocUnsafeSlow(TEXTS_BYTES);
  private numbers = new Uint32Array(2 * TEXTS);
  private used = 0;
  private count = 0;

  get length(): number {
    return this.count;
  }

  /** All of them. A view, like the others: good until one is added. */
  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.used);
  }

  /** Begin and end of each. */
  get ranges(): Uint32Array {
    return this.numbers.subarray(0, 2 * this.count);
  }

  /** No bytes for one that is not there. */
  text(index: number): Uint8Array {
    return this.buffer.subarray(this.numbers[2 * index], this.numbers[2 * index + 1]);
  }

  add(text: Uint8Array): void {
    const end = this.used + text.length;
    if (end > this.buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(end, 2 * this.buffer.length));
      grown.set(this.bytes);
      this.buffer = grown;
    }
    if (2 * this.count === this.numbers.length) {
      const more = new Uint32Array(2 * this.numbers.length);
      more.set(this.numbers);
      this.numbers = more;
    }
    this.buffer.set(text, this.used);
    this.numbers[2 * this.count] = this.used;
    this.numbers[2 * this.count + 1] = end;
    this.used = end;
    this.count += 1;
  }

  /** What was added is overwritten from now on. */
  clear(): void {
    this.used = 0;
    this.count = 0;
    if (this.buffer.length > KEPT_BYTES_MAX) this.buffer = Buffer.allocUnsafeSlow(TEXTS_BYTES);
  }
}
