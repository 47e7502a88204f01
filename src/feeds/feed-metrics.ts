/** Metrics of feeds. */
import { Counter } from 'prom-client';
import type { Metrics } from '../platform/metrics.js';
import type { SyncRunResult } from './file/sync-run.js';

export interface FeedMetrics {
  ran(provider: string, outcome: 'synced' | 'failed', result?: SyncRunResult): void;
  imported(outcome: 'imported' | 'failed'): void;
}

export function createFeedMetrics({ registry }: Pick<Metrics, 'registry'>): FeedMetrics {
  const registers = [registry];
  const runs = new Counter({
    name: 'gannet_feed_runs_total',
    help: 'Runs of feeds by what became of them',
    labelNames: ['provider', 'outcome'] as const,
    registers,
  });
  const records = new Counter({
    name: 'gannet_feed_records_total',
    help: 'Records of feeds by what a run made of them',
    labelNames: ['outcome'] as const,
    registers,
  });
  const requests = new Counter({
    name: 'gannet_feed_requests_total',
    help: 'Requests that feeds made at their sources',
    registers,
  });
  const imports = new Counter({
    name: 'gannet_list_imports_total',
    help: 'Imports of files into lists by what became of them',
    labelNames: ['outcome'] as const,
    registers,
  });
  return {
    ran(provider, outcome, result) {
      runs.inc({ provider, outcome });
      if (result === undefined) return;
      requests.inc(result.requests);
      for (const kind of ['added', 'changed', 'removed', 'unchanged'] as const)
        records.inc({ outcome: kind }, result[kind]);
    },
    imported(outcome) {
      imports.inc({ outcome });
    },
  };
}
