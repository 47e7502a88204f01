/** Interface for calling the service, however it is reached. */

export interface CallInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as a stream, with back pressure. */
  readonly stream?: AsyncIterable<Uint8Array>;
  readonly contentType?: string;
  /** Length of `stream`, if known. */
  readonly streamBytes?: number;
}

/** An answer that is read piece by piece. */
export interface Download {
  /** Undefined if the answer has no body. */
  readonly contentType: string | undefined;
  /** The bytes as they arrive. Iterating throws if they break off. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface ServiceClient {
  readonly transport: 'control socket' | 'data directory';
  /**
   * Returns the parsed answer of an operation; undefined if it has no body. Rejects with a ProblemError for errors of
   * the service, and with a CommandError if it is unreachable.
   */
  call(operation: string, input?: CallInput): Promise<unknown>;
  /** Returns the answer when it begins. Rejects like `call`. */
  download(operation: string, input?: CallInput): Promise<Download>;
  close(): Promise<void>;
}
