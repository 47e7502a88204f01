/** Runs of a feed that ended while somebody looked: the service keeps the last one alone. */
import type { FeedListOutput } from '../../service/client.js';

type Feed = FeedListOutput['feeds'][number];

export interface Run {
  /** When it ended. */
  readonly at: string;
  /** Why it failed; undefined where it did not. */
  readonly failure: string | undefined;
  readonly counts: Feed['last_run'];
}

const RUNS_MAX = 50;

/** With the run that ended last, as the feed tells it, before the others; the same runs where it is among them. */
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
