/** What writers of events need to know of the receivers. Main thread only; every call is cheap. */

/** An environment that has an outbox: that of accounts, keys and lists, or the store of one list. */
export interface OutboxSource {
  /** `system`, or the id of the list. Never reused. */
  readonly id: string;
  readonly kind: 'system' | 'list';
  /** Folder of the environment, or of the list. */
  readonly path: string;
}

export interface EventSink {
  /**
   * Returns the event types that the account subscribes to, mostly none. Called right before a change is written, so
   * that everyone who subscribed before the change was requested is told of it.
   */
  wanted(account: string): readonly string[];
  /**
   * Returns the time of an event that is written now: not before its receivers subscribed, even if the clock was set
   * back meanwhile. Otherwise the event would be dropped as older than the subscription once the clock is right again.
   */
  eventTime(account: string, nowMs: number): number;
  /**
   * Reports that `rows` rows were committed to the outbox, from which the sink fetches them. 0: rows may be left from
   * before a start.
   */
  written(source: OutboxSource, rows: number): void;
  /**
   * Returns the last row of the source that is known to be in the queue: 0 for none, `EVERY_ROW` if no row is wanted.
   */
  movedTo(sourceId: string): number;
  /**
   * Returns the row up to which the writer may remove rows. Less than `movedTo` if delivered rows must be kept, for
   * instance for a backup.
   */
  removableTo(sourceId: string): number;
  /** Resolves when every row of the source is in the queue and nobody reads from the source any more. */
  drained(source: OutboxSource): Promise<void>;
}

/** Answer of a sink that wants none of the rows written so far. */
export const EVERY_ROW = Number.MAX_SAFE_INTEGER - 1;

/** A sink for writers without receivers, such as tests and tools. */
export const noEventSink: EventSink = {
  wanted: () => [],
  eventTime: (_account, nowMs) => nowMs,
  written: () => undefined,
  movedTo: () => 0,
  removableTo: () => 0,
  drained: () => Promise.resolve(),
};

/**
 * Joins the sinks into one, including those added to the array later: a row is kept until each sink has it or does not
 * want it.
 */
export function joinedEventSinks(sinks: readonly EventSink[]): EventSink {
  return {
    wanted(account) {
      const [first, ...others] = sinks;
      if (first === undefined) return [];
      // Called at each write: avoids creating arrays if at most the first sink wants anything.
      const lists = others.map((sink) => sink.wanted(account)).filter(({ length }) => length > 0);
      const own = first.wanted(account);
      return lists.length === 0 ? own : [...new Set([...own, ...lists.flat()])];
    },
    eventTime: (account, nowMs) => sinks.reduce((ms, sink) => Math.max(ms, sink.eventTime(account, nowMs)), nowMs),
    written(source, rows) {
      for (const sink of sinks) sink.written(source, rows);
    },
    movedTo: (sourceId) => least(sinks.map((sink) => sink.movedTo(sourceId))),
    removableTo: (sourceId) => least(sinks.map((sink) => sink.removableTo(sourceId))),
    async drained(source) {
      await Promise.all(sinks.map((sink) => sink.drained(source)));
    },
  };
}

function least(rows: readonly number[]): number {
  return rows.length === 0 ? 0 : Math.min(...rows);
}
