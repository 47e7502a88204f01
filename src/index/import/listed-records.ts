/** Bitmap of the record numbers that a source lists; there may be millions. */

export class ListedRecords {
  private bytes = new Uint8Array(0);

  /** The bitmap; valid until the next `add`. */
  get bits(): Uint8Array {
    return this.bytes;
  }

  add(recordNumbers: Uint32Array): void {
    let highest = -1;
    for (const number of recordNumbers) highest = Math.max(highest, number);
    this.grow((highest >>> 3) + 1);
    for (const number of recordNumbers) {
      const place = number >>> 3;
      this.bytes[place] = (this.bytes[place] as number) | (1 << (number & 7));
    }
  }

  private grow(length: number): void {
    if (length <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(length, 2 * this.bytes.length));
    grown.set(this.bytes);
    this.bytes = grown;
  }
}

export function isListed(bits: Uint8Array, recordNumber: number): boolean {
  return ((bits[recordNumber >>> 3] ?? 0) & (1 << (recordNumber & 7))) !== 0;
}
