import { expect, it } from 'vitest';
import { withLastRun, type Run } from './feed-runs.js';

type Feed = Parameters<typeof withLastRun>[1];

const counts = { added: 1, changed: 0, removed: 0, unchanged: 3, skipped: [], requests: 2, bytes: 10, took_ms: 5 };
const feed = (changes: Partial<Feed>): Feed =>
  ({ status: 'Synced', error: null, last_checked: '2026-01-01T00:00:00Z', last_run: counts, ...changes }) as Feed;

it('withLastRun keeps each run once, newest first, at most 50, with the reason why one failed', () => {
  let runs: readonly Run[] = [];
  const tell = (changes: Partial<Feed>): void => {
    runs = withLastRun(runs, feed(changes));
  };
  tell({ status: 'Waiting for first sync', last_checked: null, last_run: null });
  expect(runs).toEqual([]);
  tell({});
  tell({});
  tell({ status: 'Syncing' });
  expect(runs).toEqual([{ at: '2026-01-01T00:00:00Z', failure: undefined, counts }]);
  const at = '2026-01-01T00:30:00Z';
  tell({ status: 'Failed', last_checked: at, error: { message: 'Nobody answers.', at } });
  expect(runs).toMatchObject([{ at, failure: 'Nobody answers.', counts: null }, { failure: undefined }]);
  for (let number = 0; number < 100; number += 1) tell({ last_checked: `run ${number}` });
  expect(runs).toHaveLength(50);
  expect(runs[0]?.at).toBe('run 99');
});
