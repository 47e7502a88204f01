/**
 * A finished body in two parts: a head of its own, and bytes that many answers share. The parts are put together by the
 * transport, where it can use the same memory for every answer: at tens of thousands of answers a second, memory of its own
 * for each one costs more than all else about it.
 */
export class HeadedBytes {
  constructor(
    /** Characters below U+0080. */
    private readonly head: string,
    private readonly rest: Uint8Array,
  ) {}

  get byteLength(): number {
    return this.head.length + this.rest.length;
  }

  /** Writes both parts to the beginning of `target`, which has room for them; returns that beginning. */
  copyTo(target: Buffer): Buffer {
    target.write(this.head, 'latin1');
    target.set(this.rest, this.head.length);
    return target.subarray(0, this.byteLength);
  }

  toBytes(): Buffer {
    return this.copyTo(Buffer.allocUnsafe(this.byteLength));
  }
}
