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

export interface ServiceClient {
  readonly transport: 'control socket' | 'data directory';
  /**
   * Returns the parsed answer of an operation; undefined if it has no body. Rejects with a ProblemError for errors of
   * the service, and with a CommandError if it is unreachable.
   */
  call(operation: string, input?: CallInput): Promise<unknown>;
  /** Returns the bytes of an answer as they arrive. Rejects like `call`; iterating throws if they break off. */
  download(operation: string, input?: CallInput): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}
