/**
 * Keeps rows of outboxes while a backup is made. The queue of deliveries is copied before the lists: rows moved into it
 * afterwards are not in its copy, and have to be in the copy of the list that wrote them. So nothing is removed from an
 * outbox until it is copied. Main thread only.
 */
import {
  EVERY_ROW,
  noEventSink,
  REMOVED_ROWS_MAX,
  ServiceError,
  type EventSink,
  type OutboxSource,
} from '../platform/index.js';

/** Limit over all outboxes. At some 1 KB each, that is about what one backup may take of the disk. */
export const HELD_ROWS_MAX = 2_000_000;

export interface HeldRowsOptions {
  readonly rowsMax: number;
  /** Removes some of the rows of this outbox that need not be kept. */
  readonly remove: (source: OutboxSource) => Promise<void>;
  /** Called if rows could not be removed; later changes remove them. */
  readonly onLeft: (source: OutboxSource, error: unknown) => void;
}

interface Hold {
  readonly released: Set<string>;
  readonly onTooMany: (reason: ServiceError) => void;
  rows: number;
}

export class HeldRows {
  private hold: Hold | undefined;
  /** Rows written while they were kept, by the id of their source. */
  private readonly written = new Map<string, { readonly source: OutboxSource; rows: number }>();
  private removing: Promise<void> = Promise.resolve();
  private isClosing = false;

  /** Wants no events; only keeps rows. */
  readonly events: EventSink = {
    ...noEventSink,
    written: (source, rows) => this.count(source, rows),
    movedTo: () => EVERY_ROW,
    removableTo: (id) => (this.isHeld(id) ? 0 : EVERY_ROW),
  };

  constructor(private readonly options: HeldRowsOptions) {}

  /** Keeps rows from now on. If there are too many, releases all of them and calls `onTooMany`. */
  begin(onTooMany: (reason: ServiceError) => void): void {
    this.hold = { released: new Set(), onTooMany, rows: 0 };
  }

  /** Releases the rows of an outbox, which was copied. */
  release(id: string): void {
    if (this.hold === undefined) return;
    this.hold.released.add(id);
    this.removeHeld(id);
  }

  releaseAll(): void {
    this.hold = undefined;
    for (const id of this.written.keys()) this.removeHeld(id);
  }

  /** Resolves when no removal is running any more; later changes remove the rest. */
  async close(): Promise<void> {
    this.isClosing = true;
    await this.removing;
  }

  private isHeld(id: string): boolean {
    return this.hold !== undefined && !this.hold.released.has(id);
  }

  private count(source: OutboxSource, rows: number): void {
    const { hold } = this;
    if (hold === undefined || rows === 0 || !this.isHeld(source.id)) return;
    const written = this.written.get(source.id) ?? { source, rows: 0 };
    written.rows += rows;
    this.written.set(source.id, written);
    hold.rows += rows;
    const { rowsMax } = this.options;
    if (hold.rows <= rowsMax) return;
    this.releaseAll();
    hold.onTooMany(
      new ServiceError(
        'conflict',
        `The backup was given up: more than ${rowsMax} events were written that have to stay until it has copied what they tell of. ` +
          'Make it when less is written, or in a place that takes it faster.',
      ),
    );
  }

  private removeHeld(id: string): void {
    const held = this.written.get(id);
    if (held === undefined) return;
    this.written.delete(id);
    // One outbox after the other, so that writers get turns in between.
    this.removing = this.removing.then(() => this.removeRows(held.source, held.rows));
  }

  private async removeRows(source: OutboxSource, rows: number): Promise<void> {
    try {
      // One round more than these rows need, for those written before.
      for (let removed = 0; removed <= rows && !this.isClosing; removed += REMOVED_ROWS_MAX)
        await this.options.remove(source);
    } catch (error) {
      this.options.onLeft(source, error);
    }
  }
}
