/**
 * Order in which the indexes of lists are rebuilt, one at a time: lists that somebody has asked for come first, and then
 * those with fewer records. A large rebuild lets short ones go first between two of its pieces, so that no list waits
 * for minutes behind a large one. Main thread only.
 */

/** How many times as many records a rebuild has left as one that may interrupt it: together they need less of the disk than two of the first. */
const INTERRUPTED_FACTOR = 2;

export interface QueuedRebuild {
  /** Set when somebody asks for the list. */
  isAsked: boolean;
  /** Number of records that are still to be indexed. */
  left: () => number;
  /** Never rejects. */
  run: () => Promise<void>;
}

export class RebuildQueue {
  private readonly waiting = new Set<QueuedRebuild>();
  private isAtWork = false;

  /** Runs it when its turn comes, never at once. */
  add(rebuild: QueuedRebuild): void {
    this.waiting.add(rebuild);
    if (this.isAtWork) return;
    this.isAtWork = true;
    void Promise.resolve().then(() => this.work());
  }

  /** Called between two pieces of a rebuild. Resolves when all those that go before the rest of it have ended. */
  async letOthersFirst(current: QueuedRebuild): Promise<void> {
    const mayInterrupt = (other: QueuedRebuild) =>
      (other.isAsked || !current.isAsked) && other.left() * INTERRUPTED_FACTOR <= current.left();
    for (let next = this.take(mayInterrupt); next !== undefined; next = this.take(mayInterrupt)) await next.run();
  }

  private async work(): Promise<void> {
    for (let next = this.take(); next !== undefined; next = this.take()) await next.run();
    this.isAtWork = false;
  }

  private take(isWanted: (rebuild: QueuedRebuild) => boolean = () => true): QueuedRebuild | undefined {
    let first: QueuedRebuild | undefined;
    for (const rebuild of this.waiting)
      if (isWanted(rebuild) && (first === undefined || isBefore(rebuild, first))) first = rebuild;
    if (first !== undefined) this.waiting.delete(first);
    return first;
  }
}

function isBefore(left: QueuedRebuild, right: QueuedRebuild): boolean {
  return left.isAsked === right.isAsked ? left.left() < right.left() : left.isAsked;
}
