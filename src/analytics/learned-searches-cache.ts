/**
 * Caches what was learned about the lists that a search worker answered for last. Checks the files of the analytics
 * worker for changes now and then. Belongs to one thread.
 */
import { BoundedMap } from '../platform/index.js';
import { EarlierSearches, type FoldQuery } from '../search/index.js';
import { learnedFile, learnedStamp, readLearned, type LearnedSearches } from './learned-file.js';

const LISTS_MAX = 64;
/** Minimum interval between two checks of a file. */
const CHECK_MS_MIN = 2000;

interface Entry {
  /** Identifies the content of the file; undefined if there is none. */
  readonly stamp: string | undefined;
  readonly searches: EarlierSearches | undefined;
  checkedMs: number;
}

export class LearnedSearchesCache {
  /** In the order of their last use, the least recently used first. */
  private readonly entries = new BoundedMap<string, Entry>(LISTS_MAX);

  constructor(
    private readonly analyticsFolder: string,
    private readonly fold: FoldQuery,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  of(listId: string): EarlierSearches | undefined {
    const entry = this.current(listId);
    this.entries.renew(listId, entry);
    return entry.searches;
  }

  private current(listId: string): Entry {
    const known = this.entries.get(listId);
    const checkedMs = this.nowMs();
    if (known !== undefined && checkedMs - known.checkedMs < CHECK_MS_MIN) return known;
    const path = learnedFile(this.analyticsFolder, listId);
    const stamp = learnedStamp(path);
    if (known !== undefined && known.stamp === stamp) {
      known.checkedMs = checkedMs;
      return known;
    }
    const learned = stamp === undefined ? undefined : readLearned(path);
    return { stamp, searches: learned && this.searchesOf(learned, known?.searches), checkedMs };
  }

  private searchesOf({ queries, clicked }: LearnedSearches, before: EarlierSearches | undefined): EarlierSearches {
    return new EarlierSearches({ queries, clicks: clicked, fold: this.fold, before });
  }
}
