/**
 * Shared limit on the bytes of records that all imports hold and have not committed. An import without room sends what
 * it has gathered and waits for its own batches, so that many concurrent imports have small batches instead of much
 * memory. Main thread only.
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

  /** Bytes held now. */
  get bytes(): number {
    return this.#bytes;
  }
}
