/** Runs of a feed that ended while the page was open; the service keeps only the last one. */
import type { FeedListOutput } from '../../service/client.js';

type Feed = FeedListOutput['feeds'][number];

export interface Run {
  /** End of the run. */
  readonly at: string;
  /** Why the run failed. Undefined if it succeeded. */
  readonly failure: string | undefined;
  readonly counts: Feed['last_run'];
}

const RUNS_MAX = 50;

/** Returns the runs with the feed's last run first. Returns `runs` itself if it is included already. */
export function withLastRun(runs: readonly Run[], feed: Feed): readonly Run[] {
  const { status, error, last_checked, last_run } = feed;
  if (last_checked === null || (status !== 'Synced' && status !== 'Failed')) return runs;
  if (runs.some(({ at }) => at === last_checked)) return runs;
  const run: Run =
    status === 'Failed'
      ? { at: last_checked, failure: error?.message ?? '', counts: null }
      : { at: last_checked, failure: undefined, counts: last_run };
  return [run, ...runs].slice(0, RUNS_MAX);
}
