/**
 * The body of an answer that is made while it is sent: a file, an export. Its length is known before, so that whoever receives it can
 * tell a whole one from one that broke off. Taken once, or let go.
 */

export interface StreamedBodyOptions {
  readonly byteLength: number;
  /** The pieces, together `byteLength` bytes; one is asked for when the client has taken those before. */
  readonly pieces: () => AsyncIterable<Uint8Array>;
  /** Called instead of `pieces` where nobody wants them. */
  readonly letGo?: () => void;
}

export class StreamedBody {
  readonly byteLength: number;
  private isSettled = false;

  constructor(private readonly options: StreamedBodyOptions) {
    this.byteLength = options.byteLength;
  }

  /** Throws where they were taken or let go before. */
  pieces(): AsyncIterable<Uint8Array> {
    if (this.isSettled) throw new Error('this body was taken before');
    this.isSettled = true;
    return this.options.pieces();
  }

  /** Nobody will take it; without effect where somebody has. */
  letGo(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.options.letGo?.();
  }
}
