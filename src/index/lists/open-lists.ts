/** The lists that are open, and which of them was asked for the longest ago. Main thread only. */
import type { ListHandle } from './list-handle.js';

interface Candidate {
  readonly handle: ListHandle;
  readonly usedAt: number;
}

export class OpenLists {
  private readonly lists = new Map<string, ListHandle>();
  private uses = 0;
  /** The most recently used first. Those that were used since are passed over, so it is made anew only when it is empty. */
  private candidates: Candidate[] = [];

  get size(): number {
    return this.lists.size;
  }

  all(): Iterable<ListHandle> {
    return this.lists.values();
  }

  /** For who uses it now. */
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

  /** The least recently used first. */
  inOrder(): ListHandle[] {
    return [...this.lists.values()].sort((left, right) => left.usedAt - right.usedAt);
  }

  /** Of those that have nothing to do at that time, the one that was used the longest ago; undefined where all have something to do. */
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
