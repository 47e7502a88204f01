/**
 * Moves rows from outboxes into a queue: one source at a time, in pieces, each row once. Which work results from a row
 * is decided when it is moved. One thread only.
 */
import type { NumberedRow } from './row-outbox.js';
import type { Timers } from './timers.js';

/** Rows read at once; bounds memory. */
const ROWS_AT_ONCE = 500;
const BYTES_AT_ONCE = 4 * 2 ** 20;
/**
 * Items moved in one transaction, but at least those of one row: a row of an account with ten thousand webhooks becomes
 * ten thousand deliveries.
 */
export const MOVED_AT_ONCE = 10_000;
const MOVED_BYTES_AT_ONCE = 16 * 2 ** 20;
const RETRY_MS = { first: 1000, max: 30_000 };

export interface RowReader<Row> {
  read(afterRow: number, bounds: { rowsMax: number; bytesMax: number }): readonly NumberedRow<Row>[];
}

/** The destination: writes items and the mark of their source in one transaction. */
export interface RelayQueue<Moved> {
  /** Returns the last row of the source that was moved; 0 for none. */
  mark(sourceId: string): number;
  /** Writes the items made from the rows up to `lastRow`. Resolves when they are on disk. */
  moveIn(sourceId: string, lastRow: number, moved: readonly Moved[]): Promise<void>;
  /** Removes the mark of an outbox that no longer exists. */
  dropMark(sourceId: string): Promise<void>;
}

/** Opens outboxes. */
export interface RelaySources<Source, Row> {
  /** Returns a reader of the source's last commit; undefined if the source is gone. */
  open(source: Source): RowReader<Row> | undefined;
  /** The source is not needed any more. */
  release(source: Source): void;
  close(): Promise<void>;
}

export interface OutboxRelayOptions<Source, Row, Moved> {
  readonly queue: RelayQueue<Moved>;
  readonly sources: RelaySources<Source, Row>;
  readonly timers: Timers;
  readonly movedFrom: (source: Source, row: NumberedRow<Row>) => readonly Moved[];
  /** Estimated bytes of each item made from the row. */
  readonly bytesOf: (row: Row) => number;
  /** Called when the rows of the source up to `lastRow`, and the items made from them, are in the queue. */
  readonly onMoved: (source: Source, lastRow: number, moved: readonly Moved[]) => void;
  /** Called for each failure, which is retried. `count`: consecutive failures of the source. */
  readonly onFailure: (source: Source, error: unknown, count: number) => void;
}

interface Piece<Moved> {
  readonly lastRow: number;
  readonly moved: readonly Moved[];
}

/** An outbox could not be read. Its cause concerns the environment of the outbox, not the queue. */
export class UnreadSourceError extends Error {
  override readonly name = 'UnreadSourceError';

  constructor(sourceId: string, cause: unknown) {
    super(`The outbox of ${sourceId} could not be read: ${String(cause)}`, { cause });
  }
}

export class OutboxRelay<Source extends { readonly id: string }, Row, Moved> {
  private readonly pending = new Map<string, Source>();
  /** Ids of sources that failed, and are not tried again before their time. */
  private readonly waiting = new Set<string>();
  private readonly failures = new Map<string, number>();
  private running: Promise<void> | undefined;
  private stopped = false;

  constructor(private readonly options: OutboxRelayOptions<Source, Row, Moved>) {}

  /** Reports that the source has rows. */
  wake(source: Source): void {
    if (this.waiting.has(source.id)) return;
    this.pending.set(source.id, source);
    this.running ??= this.run();
  }

  /** Resolves when every row of the source is in the queue, and releases the source and its mark then. */
  async drain(source: Source): Promise<void> {
    this.pending.delete(source.id);
    while (this.running !== undefined) await this.running;
    this.assertOpen(source);
    this.running = this.move(source).finally(() => {
      this.running = undefined;
      if (this.pending.size > 0) this.running = this.run();
    });
    await this.running;
    this.assertOpen(source);
    this.failures.delete(source.id);
    this.options.sources.release(source);
    await this.options.queue.dropMark(source.id);
  }

  /** Stops moving rows; resolves when all sources are closed. */
  async close(): Promise<void> {
    this.stopped = true;
    await this.running?.catch(() => undefined);
    await this.options.sources.close();
  }

  private assertOpen(source: Source): void {
    if (this.stopped) throw new Error(`the events of ${source.id} are moved after the next start`);
  }

  private async run(): Promise<void> {
    for (const [id, source] of this.pending) {
      if (this.stopped) break;
      this.pending.delete(id);
      try {
        await this.move(source);
        this.failures.delete(id);
      } catch (error) {
        this.failed(source, error);
      }
    }
    this.running = undefined;
  }

  /**
   * Delays the next attempt: a disk that reports errors does so at each, and a busy source would try with each of its
   * commits.
   */
  private failed(source: Source, error: unknown): void {
    const count = (this.failures.get(source.id) ?? 0) + 1;
    this.failures.set(source.id, count);
    this.waiting.add(source.id);
    this.options.onFailure(source, error, count);
    this.options.timers.after(Math.min(RETRY_MS.max, RETRY_MS.first * 2 ** (count - 1)), () => {
      this.waiting.delete(source.id);
      if (!this.stopped) this.wake(source);
    });
  }

  private async move(source: Source): Promise<void> {
    const { queue, onMoved } = this.options;
    let after = queue.mark(source.id);
    // Also reports what an earlier process has moved.
    if (after > 0) onMoved(source, after, []);
    while (!this.stopped) {
      const rows = this.rowsBehind(source, after);
      if (rows.length === 0) break;
      for (const { lastRow, moved } of this.pieces(source, rows)) {
        if (this.stopped) return;
        await queue.moveIn(source.id, lastRow, moved);
        after = lastRow;
        onMoved(source, after, moved);
      }
    }
  }

  private rowsBehind(source: Source, after: number): readonly NumberedRow<Row>[] {
    try {
      return this.options.sources.open(source)?.read(after, { rowsMax: ROWS_AT_ONCE, bytesMax: BYTES_AT_ONCE }) ?? [];
    } catch (error) {
      throw new UnreadSourceError(source.id, error);
    }
  }

  /** Groups the items made from the rows into transactions; those of one row stay together. */
  private *pieces(source: Source, rows: readonly NumberedRow<Row>[]): Generator<Piece<Moved>> {
    const { movedFrom, bytesOf } = this.options;
    let moved: Moved[] = [];
    let bytes = 0;
    let lastRow: number | undefined;
    for (const { row, content } of rows) {
      let made = movedFrom(source, { row, content });
      const madeBytes = made.length * bytesOf(content);
      const isTooMuch = moved.length + made.length > MOVED_AT_ONCE || bytes + madeBytes > MOVED_BYTES_AT_ONCE;
      if (isTooMuch && made.length > 0 && lastRow !== undefined) {
        yield { lastRow, moved };
        moved = [];
        bytes = 0;
        // Made again after the transaction, which takes time: a receiver may be gone since.
        made = movedFrom(source, { row, content });
      }
      for (const each of made) moved.push(each);
      bytes += made.length * bytesOf(content);
      lastRow = row;
    }
    if (lastRow !== undefined) yield { lastRow, moved };
  }
}
