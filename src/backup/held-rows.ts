/**
 * Rows of outboxes that stay while a backup is made. The queue of what is to be told is copied before the lists: what is moved into it
 * meanwhile is not in its copy, and has to be in that of the list which told it. So nothing is taken out of an outbox until it is copied.
 * Main thread only.
 */
import {
  EVERY_ROW,
  noEventSink,
  REMOVED_ROWS_MAX,
  ServiceError,
  type EventSink,
  type OutboxSource,
} from '../platform/index.js';

/** Of all outboxes. Some 1 KB each: about what one backup may take of the disk of who is only copied. */
export const HELD_ROWS_MAX = 2_000_000;

export interface HeldRowsOptions {
  readonly rowsMax: number;
  /** Removes some of the rows of this outbox that need not stay. */
  readonly remove: (source: OutboxSource) => Promise<void>;
  /** Told when they could not be removed now: changes that come do it. */
  readonly onLeft: (source: OutboxSource, error: unknown) => void;
}

interface Hold {
  readonly released: Set<string>;
  readonly onTooMany: (reason: ServiceError) => void;
  rows: number;
}

export class HeldRows {
  private hold: Hold | undefined;
  /** What was written while it was held, by the id of its source. */
  private readonly written = new Map<string, { readonly source: OutboxSource; rows: number }>();
  private removing: Promise<void> = Promise.resolve();
  private isClosing = false;

  /** Is told of nothing. */
  readonly events: EventSink = {
    ...noEventSink,
    written: (source, rows) => this.count(source, rows),
    movedTo: () => EVERY_ROW,
    removableTo: (id) => (this.isHeld(id) ? 0 : EVERY_ROW),
  };

  constructor(private readonly options: HeldRowsOptions) {}

  /** From now on rows stay. Where they come to too many, all are let go, and `onTooMany` is told. */
  begin(onTooMany: (reason: ServiceError) => void): void {
    this.hold = { released: new Set(), onTooMany, rows: 0 };
  }

  /** The copy of this outbox is there. */
  release(id: string): void {
    if (this.hold === undefined) return;
    this.hold.released.add(id);
    this.removeHeld(id);
  }

  releaseAll(): void {
    this.hold = undefined;
    for (const id of this.written.keys()) this.removeHeld(id);
  }

  /** Resolves when nothing is removed any more: what is left is removed by changes. */
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
    // One outbox after the other: whoever writes gets turns in between.
    this.removing = this.removing.then(() => this.removeRows(held.source, held.rows));
  }

  private async removeRows(source: OutboxSource, rows: number): Promise<void> {
    try {
      // Once more than they fill, for those that were there before.
      for (let removed = 0; removed <= rows && !this.isClosing; removed += REMOVED_ROWS_MAX)
        await this.options.remove(source);
    } catch (error) {
      this.options.onLeft(source, error);
    }
  }
}
