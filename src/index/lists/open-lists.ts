/** The open lists, and which of them was least recently used. Main thread only. */
import type { ListHandle } from './list-handle.js';

interface Candidate {
  readonly handle: ListHandle;
  readonly usedAt: number;
}

export class OpenLists {
  private readonly lists = new Map<string, ListHandle>();
  private uses = 0;
  /**
   * Most recently used first, to be taken from the end. Entries that were used since are skipped, so that the array has
   * to be rebuilt only when it is empty.
   */
  private candidates: Candidate[] = [];

  get size(): number {
    return this.lists.size;
  }

  all(): Iterable<ListHandle> {
    return this.lists.values();
  }

  /** Returns the list and counts that as a use. */
  used(listId: string): ListHandle | undefined {
    const handle = this.lists.get(listId);
    if (handle !== undefined) handle.usedAt = this.uses += 1;
    return handle;
  }

  get(listId: string): ListHandle | undefined {
    return this.lists.get(listId);
  }

  add(handle: ListHandle): void {
    this.lists.set(handle.listId, handle);
  }

  delete(listId: string): void {
    this.lists.delete(listId);
  }

  /** Least recently used first. */
  inOrder(): ListHandle[] {
    return [...this.lists.values()].sort((left, right) => left.usedAt - right.usedAt);
  }

  /** Returns the least recently used list that has nothing to do at that time; undefined if all have. */
  longestUnused(nowMs: number): ListHandle | undefined {
    for (let rounds = 0; rounds < 2; rounds += 1) {
      for (let next = this.candidates.pop(); next !== undefined; next = this.candidates.pop()) {
        const { handle, usedAt } = next;
        const isAsItWas = this.lists.get(handle.listId) === handle && handle.usedAt === usedAt;
        if (isAsItWas && handle.open !== undefined && handle.open.restsUntilMs > nowMs) return handle;
      }
      this.candidates = this.inOrder()
        .reverse()
        .map((handle) => ({ handle, usedAt: handle.usedAt }));
    }
    return undefined;
  }
}
