/**
 * A finished body of which many answers share all but the head. Each answer brings a head of its own, which is written over
 * the beginning of the shared bytes at the moment of sending: at tens of thousands of answers a second, a copy of the rest for
 * each one, or memory for it, costs more than all else about it.
 */
export class HeadedBytes {
  /** `head`: characters below U+0080. `shared` begins with the head of some answer, of the same length. */
  constructor(
    private readonly head: string,
    private readonly shared: Buffer,
  ) {}

  get byteLength(): number {
    return this.shared.length;
  }

  /** The body, without a copy: good until the next answer of the same bytes is, so to be sent or copied at once. */
  borrow(): Buffer {
    this.shared.write(this.head, 'latin1');
    return this.shared;
  }

  /** The body, as the caller's own. */
  toBytes(): Buffer {
    return Buffer.from(this.borrow());
  }
}
