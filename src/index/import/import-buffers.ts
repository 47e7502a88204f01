/**
 * What all imports hold of records that are not committed yet: a count of bytes that they share. Whoever finds no room sends what
 * it has gathered and waits for its own batches, so that many imports at a time have small batches instead of much memory.
 * Main thread only.
 */
export class ImportBuffers {
  #bytes = 0;

  constructor(private readonly bytesMax: number) {}

  hasRoomFor(bytes: number): boolean {
    return this.#bytes + bytes <= this.bytesMax;
  }

  taken(bytes: number): void {
    this.#bytes += bytes;
  }

  released(bytes: number): void {
    this.#bytes -= bytes;
  }

  /** Held now. */
  get bytes(): number {
    return this.#bytes;
  }
}
