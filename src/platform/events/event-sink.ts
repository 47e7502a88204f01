/** What writers of events need to know of those who are told. Main thread only; every call is cheap. */

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
   * The types that are wanted of the account, mostly none. Asked right before a change is written: whoever subscribed
   * before the change was asked for is told of it.
   */
  wanted(account: string): readonly string[];
  /**
   * When what is written now took place, for whoever is to be told of it: not before they subscribed, whatever the clock says. It may have been set back
   * since, and right again when the event is told.
   */
  eventTime(account: string, nowMs: number): number;
  /** So many rows were committed; 0: some may be left from before a start. They will be fetched from there. */
  written(source: OutboxSource, rows: number): void;
  /** The last row of the source that is known to be in the queue; 0 for none, `EVERY_ROW` where none of them is wanted. */
  movedTo(sourceId: string): number;
  /** The writer may remove this row and those before. Less than `movedTo` where rows that were told are still to stay, as for a backup. */
  removableTo(sourceId: string): number;
  /** Resolves when every row of the source is in the queue and nobody reads from it any more. */
  drained(source: OutboxSource): Promise<void>;
}

/** Of who reads no row that was written until now. */
export const EVERY_ROW = Number.MAX_SAFE_INTEGER - 1;

/** For those who write where nobody listens: tests, tools. */
export const noEventSink: EventSink = {
  wanted: () => [],
  eventTime: (_account, nowMs) => nowMs,
  written: () => undefined,
  movedTo: () => 0,
  removableTo: () => 0,
  drained: () => Promise.resolve(),
};

/** All of `sinks` as one, also those that come later: a row is kept until each has it, or does not want it. */
export function joinedEventSinks(sinks: readonly EventSink[]): EventSink {
  return {
    wanted(account) {
      const [first, ...others] = sinks;
      if (first === undefined) return [];
      // Asked at each write: the only one, and those of whom nobody wants anything, make no list of their own.
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
