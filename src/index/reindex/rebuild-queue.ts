/**
 * Order in which the indexes of lists are rebuilt, one at a time: lists that somebody has asked for come first, and then
 * those with fewer records. A large rebuild lets short ones go first between two of its pieces, so that no list waits
 * for minutes behind a large one. Main thread only.
 */
import { beforeEndOf } from '../../platform/index.js';

/**
 * How many times as many records a rebuild has left as one that may interrupt it: together they need less of the disk
 * than two of the first.
 */
const INTERRUPTED_FACTOR = 2;

export interface QueuedRebuild {
  /** Set when somebody asks for the list. */
  isAsked: boolean;
  /** Number of records that are to be indexed. A plain number, since thousands of lists may wait after an upgrade. */
  readonly records: number;
  /** Never rejects. */
  run: () => Promise<void>;
}

/** A rebuild between two of its pieces. */
interface Interruptible {
  readonly rebuild: QueuedRebuild;
  /** Number of records that are still to be indexed. */
  readonly left: number;
  readonly signal: AbortSignal;
}

export class RebuildQueue {
  private readonly waiting = new Set<QueuedRebuild>();
  /** What goes first, by the rebuild that it interrupted. It is awaited also if that one has been stopped meanwhile. */
  private readonly ahead = new WeakMap<QueuedRebuild, Promise<void>>();
  private isAtWork = false;

  /** Runs it when its turn comes, never at once. */
  add(rebuild: QueuedRebuild): void {
    this.waiting.add(rebuild);
    if (this.isAtWork) return;
    this.isAtWork = true;
    void Promise.resolve().then(() => this.work());
  }

  /**
   * Called between two pieces of a rebuild. Resolves when all those that go before the rest of it have ended; rejects
   * with the signal's reason as soon as it is aborted.
   */
  async letOthersFirst(current: Interruptible): Promise<void> {
    const others = this.runAll((other) => mayInterrupt(other, current));
    this.ahead.set(current.rebuild, others);
    await beforeEndOf(current.signal, others);
  }

  private async work(): Promise<void> {
    await this.runAll(() => true);
    this.isAtWork = false;
  }

  private async runAll(isWanted: (rebuild: QueuedRebuild) => boolean): Promise<void> {
    for (let next = this.take(isWanted); next !== undefined; next = this.take(isWanted)) {
      await next.run();
      await this.ahead.get(next);
    }
  }

  private take(isWanted: (rebuild: QueuedRebuild) => boolean): QueuedRebuild | undefined {
    let first: QueuedRebuild | undefined;
    for (const rebuild of this.waiting)
      if (isWanted(rebuild) && (first === undefined || isBefore(rebuild, first))) first = rebuild;
    if (first !== undefined) this.waiting.delete(first);
    return first;
  }
}

function mayInterrupt(other: QueuedRebuild, { rebuild, left }: Interruptible): boolean {
  return (other.isAsked || !rebuild.isAsked) && other.records * INTERRUPTED_FACTOR <= left;
}

function isBefore(left: QueuedRebuild, right: QueuedRebuild): boolean {
  return left.isAsked === right.isAsked ? left.records < right.records : left.isAsked;
}
