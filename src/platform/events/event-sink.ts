/** What writers of events need to know of those who listen. Main thread only; every call is cheap. */

/** Where an outbox is: the environment of accounts, keys and lists, or the store of one list. */
export interface OutboxSource {
  /** `system`, or the id of the list. Never reused. */
  readonly id: string;
  readonly kind: 'system' | 'list';
  /** Folder of the environment, or of the list. */
  readonly path: string;
}

export interface EventSink {
  /**
   * The types that webhooks of the account want, mostly none. Asked right before a change is written: whoever subscribed
   * before the change was asked for is told of it.
   */
  wanted(account: string): readonly string[];
  /** Rows were committed; they will be fetched from there. */
  written(source: OutboxSource): void;
  /** The last row of the source that is known to be in the queue; 0 for none. The writer may remove it and those before. */
  movedTo(sourceId: string): number;
  /** Resolves when every row of the source is in the queue and nobody reads from it any more. */
  drained(source: OutboxSource): Promise<void>;
}

/** For those who write where nobody listens: tests, tools. */
export const noEventSink: EventSink = {
  wanted: () => [],
  written: () => undefined,
  movedTo: () => 0,
  drained: () => Promise.resolve(),
};
