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
  private begun: { readonly first: IteratorResult<Uint8Array>; readonly rest: AsyncIterator<Uint8Array> } | undefined;

  constructor(private readonly options: StreamedBodyOptions) {
    this.byteLength = options.byteLength;
  }

  /** Reads the first piece before anything is sent: what it meets can be told, where later on the connection would end. Rejects with that; nothing is to be let go then. */
  async begin(): Promise<void> {
    const rest = this.options.pieces()[Symbol.asyncIterator]();
    this.begun = { first: await rest.next(), rest };
  }

  /** Throws where they were taken or let go before. */
  pieces(): AsyncIterable<Uint8Array> {
    if (this.isSettled) throw new Error('this body was taken before');
    this.isSettled = true;
    return this.begun === undefined ? this.options.pieces() : piecesOf(this.begun);
  }

  /** Nobody will take it; without effect where somebody has. */
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
