/**
 * The body of an answer that is created while it is sent, such as a file or an export. Its length is known before, so
 * that the receiver can recognize an incomplete one. Either consumed once, or released.
 */

export interface StreamedBodyOptions {
  readonly byteLength: number;
  /** Yields the pieces, `byteLength` bytes in total; each is requested when the client has received those before. */
  readonly pieces: () => AsyncIterable<Uint8Array>;
  /** Called instead of `pieces` if the body is not wanted. */
  readonly letGo?: () => void;
}

export class StreamedBody {
  readonly byteLength: number;
  private isSettled = false;
  private begun: { readonly first: IteratorResult<Uint8Array>; readonly rest: AsyncIterator<Uint8Array> } | undefined;

  constructor(private readonly options: StreamedBodyOptions) {
    this.byteLength = options.byteLength;
  }

  /**
   * Reads the first piece before anything is sent, so that its error can still be answered; later ones end the
   * connection. Rejects with that error; the body need not be released then.
   */
  async begin(): Promise<void> {
    const rest = this.options.pieces()[Symbol.asyncIterator]();
    this.begun = { first: await rest.next(), rest };
  }

  /** Returns the pieces. Throws if they were taken or released before. */
  pieces(): AsyncIterable<Uint8Array> {
    if (this.isSettled) throw new Error('this body was taken before');
    this.isSettled = true;
    return this.begun === undefined ? this.options.pieces() : piecesOf(this.begun);
  }

  /** Releases the body, which nobody will take; does nothing if somebody has. */
  letGo(): void {
    if (this.isSettled) return;
    this.isSettled = true;
    if (this.begun === undefined) this.options.letGo?.();
    else void this.begun.rest.return?.().catch(() => undefined);
  }
}

async function* piecesOf({
  first,
  rest,
}: {
  readonly first: IteratorResult<Uint8Array>;
  readonly rest: AsyncIterator<Uint8Array>;
}): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
