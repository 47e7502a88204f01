/** Splits concatenated PNG files. Pure functions. */

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Length, type and checksum of a chunk. */
const CHUNK_BYTES = 12;

/** Thrown if the bytes are no stream of PNG files, or a file is too large. */
export class PngStreamError extends Error {
  override readonly name = 'PngStreamError';
}

export class PngStream {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** Offset of the next chunk; 0 before a signature. */
  #at = 0;

  /** `bytesMax` is the limit for one file. */
  constructor(private readonly bytesMax: number) {}

  /** Returns the files completed by these bytes. Throws a PngStreamError. */
  add(piece: Uint8Array): Buffer[] {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    const files: Buffer[] = [];
    for (let file = this.#next(); file !== undefined; file = this.#next()) files.push(file);
    return files;
  }

  #next(): Buffer | undefined {
    if (this.#bytes < this.#at + CHUNK_BYTES) return undefined;
    const whole = this.#joined();
    if (this.#at === 0) {
      if (!whole.subarray(0, SIGNATURE.length).equals(SIGNATURE))
        throw new PngStreamError('what came is no stream of PNG files');
      this.#at = SIGNATURE.length;
    }
    while (whole.length >= this.#at + CHUNK_BYTES) {
      const end = this.#at + CHUNK_BYTES + whole.readUInt32BE(this.#at);
      if (end > this.bytesMax) throw new PngStreamError(`a PNG file has more than ${this.bytesMax} bytes`);
      if (whole.length < end) return undefined;
      const isLast = whole.toString('latin1', this.#at + 4, this.#at + 8) === 'IEND';
      this.#at = end;
      if (isLast) return this.#cut(whole);
    }
    return undefined;
  }

  #cut(whole: Buffer): Buffer {
    const rest = whole.subarray(this.#at);
    const file = whole.subarray(0, this.#at);
    this.#pieces = rest.length === 0 ? [] : [rest];
    this.#bytes = rest.length;
    this.#at = 0;
    return file;
  }

  #joined(): Buffer {
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [whole];
    return whole;
  }
}
