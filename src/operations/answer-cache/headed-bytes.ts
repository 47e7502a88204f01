/**
 * A finished body of which many answers share all but the head. Each answer's head is written over the beginning of the
 * shared bytes when it is sent: at tens of thousands of answers per second, copying the rest, or its memory, would cost
 * more than everything else.
 */
export class HeadedBytes {
  /** `head` has characters below U+0080 only. `shared` begins with a head of the same length. */
  constructor(
    private readonly head: string,
    private readonly shared: Buffer,
  ) {}

  get byteLength(): number {
    return this.shared.length;
  }

  /**
   * Returns the body without copying. Valid until the next answer of the same bytes is borrowed, so send or copy it at
   * once.
   */
  borrow(): Buffer {
    this.shared.write(this.head, 'latin1');
    return this.shared;
  }

  /** Returns a copy that belongs to the caller. */
  toBytes(): Buffer {
    return Buffer.from(this.borrow());
  }
}
