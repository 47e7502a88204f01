/** One way to call the service, whichever way it can be reached. */

export interface CallInput {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Sent as it comes, at the service's pace. */
  readonly stream?: AsyncIterable<Uint8Array>;
  readonly contentType?: string;
  /** Bytes of `stream`, where they are known. */
  readonly streamBytes?: number;
}

export interface ServiceClient {
  readonly transport: 'control socket' | 'data directory';
  /**
   * The parsed answer of an operation, undefined where it has no body. Rejects with a ProblemError for the service's own
   * answers and with a CommandError when the service cannot be reached.
   */
  call(operation: string, input?: CallInput): Promise<unknown>;
  /** The bytes that an operation answers, as they come; rejects as `call` does. Throws where they break off. */
  download(operation: string, input?: CallInput): Promise<AsyncIterable<Uint8Array>>;
  close(): Promise<void>;
}
