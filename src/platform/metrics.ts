/** The metrics of the service, in one Prometheus registry. Names end in their unit; labels have few values. */
import { performance } from 'node:perf_hooks';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics, type Metric } from 'prom-client';
import { PacedReading } from './paced-reading.js';
import { SeriesHistogram, type SeriesHistogramOptions } from './series-histogram.js';

/** Bounds in seconds, from 0.1 ms to 10 s. */
const REQUEST_BUCKETS_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10,
];
const TASK_BUCKETS_SECONDS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 60];
/** Interval at which event loop lag is sampled; a finer one would wake an idle process more often. */
const EVENT_LOOP_PRECISION_MS = 50;
/** Gauges of prom-client with names of counters; each is the sum of another one that has labels. */
const CALLED_AS_COUNTERS = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];

export type PoolName = 'search' | 'ingest' | 'analytics' | 'synonyms' | 'webhook';
export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Creates the metrics. `processMetrics` adds memory, CPU and event loop; only one registry of a process should have
 * them.
 */
export function createMetrics(options: { readonly processMetrics?: boolean } = {}) {
  const registry = new Registry();
  const registers = [registry];
  if (options.processMetrics === true) {
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
    for (const name of CALLED_AS_COUNTERS) registry.removeSingleMetric(name);
    measureFrontEnd(registers);
  }
  const collectors = new Set<() => void>();
  // The text has thousands of lines, and anybody may request it without a key.
  const reading = new PacedReading(() => {
    for (const collect of collectors) collect();
    return registry.metrics();
  });
  return {
    registry,
    /**
     * Adds a function that runs before the metrics are read, for gauges whose values are kept elsewhere and change too
     * often to be set each time.
     */
    beforeReading(collect: () => void): void {
      collectors.add(collect);
    },
    /** Returns all metrics in Prometheus' text format; concurrent callers share one reading. */
    text: (): Promise<string> => reading.get(),
    ...httpMetrics(registers),
    ...searchMetrics(registers),
    ...poolMetrics(registers),
    ...storageMetrics(registers),
    ...analyticsMetrics(registers),
    ...webhookMetrics(registers),
    logLinesDropped: new Counter({
      name: 'gannet_log_lines_dropped_total',
      help: 'Lines of the log that could not be written: a full disk, or a reader that has gone or does not read',
      registers,
    }),
  };
}

/**
 * Measures how busy the calling thread is, which answers all connections: if it is always busy, more processors do not
 * help.
 */
function measureFrontEnd(registers: Registry[]): void {
  const busy = new Counter({
    name: 'gannet_front_end_busy_seconds_total',
    help: 'Time in which the thread that answers all connections did not wait for anything to do',
    registers,
    collect: () => {
      busy.reset();
      busy.inc(performance.eventLoopUtilization().active / 1000);
    },
  });
}

/** Creates a histogram that is cheap enough to be observed at every request. */
function frequentHistogram(registers: readonly Registry[], options: SeriesHistogramOptions): SeriesHistogram {
  const histogram = new SeriesHistogram(options);
  // A registry only calls methods that this class has.
  for (const registry of registers) registry.registerMetric(histogram as unknown as Metric);
  return histogram;
}

function httpMetrics(registers: Registry[]) {
  const requestSeconds = frequentHistogram(registers, {
    name: 'gannet_http_request_seconds',
    help: 'Time from the request line to the answer',
    label: 'operation',
    buckets: REQUEST_BUCKETS_SECONDS,
  });
  return {
    requests: new Counter({
      name: 'gannet_http_requests_total',
      help: 'Requests answered, by operation and status',
      labelNames: ['operation', 'status'] as const,
      registers,
    }),
    requestSeconds,
    requestsInFlight: new Gauge({
      name: 'gannet_http_requests_in_flight',
      help: 'Requests being worked on',
      registers,
    }),
    connectionsRefused: new Counter({
      name: 'gannet_http_connections_refused_total',
      help: 'Connections closed at once, because the process had no descriptors to spare (ulimit -n)',
      registers,
    }),
    requestsAborted: new Counter({
      name: 'gannet_http_requests_aborted_total',
      help: 'Requests whose client went away before the answer',
      registers,
    }),
  };
}

function searchMetrics(registers: Registry[]) {
  return {
    searches: new Counter({ name: 'gannet_searches_total', help: 'Searches that ran', registers }),
    searchesUnfinished: new Counter({
      name: 'gannet_searches_unfinished_total',
      help: 'Searches that ended without an answer: past search.deadline_ms, or because their client left',
      labelNames: ['reason'] as const,
      registers,
    }),
    searchesMoved: new Counter({
      name: 'gannet_searches_moved_total',
      help: 'Searches that took longer than what may hold others up, and ran again beside them',
      registers,
    }),
    searchCacheHits: new Counter({
      name: 'gannet_search_cache_hits_total',
      help: 'Searches answered from memory',
      registers,
    }),
    searchCacheMisses: new Counter({
      name: 'gannet_search_cache_misses_total',
      help: 'Searches that were looked for in memory and not found',
      registers,
    }),
    searchCacheBytes: new Gauge({
      name: 'gannet_search_cache_bytes',
      help: 'Memory of the answers that are kept',
      registers,
    }),
    searchWorkerSeconds: frequentHistogram(registers, {
      name: 'gannet_search_worker_seconds',
      help: 'Time of a search inside its worker',
      buckets: REQUEST_BUCKETS_SECONDS,
    }).of(),
    searchBatchSize: frequentHistogram(registers, {
      name: 'gannet_search_batch_size',
      help: 'Searches that went to a worker as one task',
      buckets: [1, 2, 4, 8, 16, 32, 64],
    }).of(),
  };
}

function poolMetrics(registers: Registry[]) {
  return {
    poolWaiting: new Gauge({
      name: 'gannet_pool_tasks_waiting',
      help: 'Tasks that wait for a worker',
      labelNames: ['pool'] as const,
      registers,
    }),
    poolRefused: new Counter({
      name: 'gannet_pool_tasks_refused_total',
      help: 'Tasks refused because the queue was full',
      labelNames: ['pool'] as const,
      registers,
    }),
    workerDeaths: new Counter({
      name: 'gannet_worker_deaths_total',
      help: 'Workers that died and were replaced',
      labelNames: ['pool'] as const,
      registers,
    }),
  };
}

function storageMetrics(registers: Registry[]) {
  return {
    recordsWritten: new Counter({
      name: 'gannet_records_written_total',
      help: 'Records created, updated, deleted or refused',
      labelNames: ['outcome'] as const,
      registers,
    }),
    recordsEmbedded: new Counter({
      name: 'gannet_records_embedded_total',
      help: 'What came of attempts to embed records: embedded, nothing (gone meanwhile), retried or set-aside',
      labelNames: ['outcome'] as const,
      registers,
    }),
    ingestTaskSeconds: new Histogram({
      name: 'gannet_ingest_task_seconds',
      help: 'Time of ingest tasks, by kind (commit, merge, build)',
      labelNames: ['kind'] as const,
      buckets: TASK_BUCKETS_SECONDS,
      registers,
    }),
    listsOpen: new Gauge({ name: 'gannet_lists_open', help: 'Lists that are open', registers }),
    listOpenings: new Counter({ name: 'gannet_list_openings_total', help: 'Lists that were opened', registers }),
    memoryOwnBytes: new Gauge({
      name: 'gannet_memory_own_bytes',
      help: 'Resident memory that belongs to no file, beside gannet_memory_budget_bytes',
      registers,
    }),
    memoryBudgetBytes: new Gauge({
      name: 'gannet_memory_budget_bytes',
      help: 'What memory.mib allows',
      registers,
    }),
    listSegments: new Gauge({
      name: 'gannet_list_segments',
      help: 'Segments that searches of open lists look into',
      registers,
    }),
    listVersions: new Gauge({ name: 'gannet_list_versions', help: 'Versions of open lists', registers }),
    listVersionsBuilding: new Gauge({
      name: 'gannet_list_versions_building',
      help: 'Versions of open lists that are being built',
      registers,
    }),
    listsRebuilding: new Gauge({
      name: 'gannet_lists_rebuilding',
      help: 'Lists that are not open because their index is being rebuilt, or waits for it',
      registers,
    }),
  };
}

function analyticsMetrics(registers: Registry[]) {
  return {
    analyticsEvents: new Counter({
      name: 'gannet_analytics_events_total',
      help: 'Searches and clicks that were recorded',
      labelNames: ['kind'] as const,
      registers,
    }),
    analyticsEventsDropped: new Counter({
      name: 'gannet_analytics_events_dropped_total',
      help: 'Searches and clicks that were not recorded: the buffer was full, or the storage failed for too long',
      labelNames: ['reason'] as const,
      registers,
    }),
    analyticsEventsRolledUp: new Counter({
      name: 'gannet_analytics_events_rolled_up_total',
      help: 'Searches and clicks that were added to roll-ups',
      registers,
    }),
    analyticsBufferBytes: new Gauge({
      name: 'gannet_analytics_buffer_bytes',
      help: 'Memory of events that wait for the analytics worker',
      registers,
    }),
  };
}

function webhookMetrics(registers: Registry[]) {
  return {
    webhookDeliveries: new Counter({
      name: 'gannet_webhook_attempts_total',
      help: 'Attempts of webhook deliveries, by what became of the delivery',
      labelNames: ['outcome'] as const,
      registers,
    }),
    webhookQueued: new Gauge({
      name: 'gannet_webhook_deliveries_queued',
      help: 'Webhook deliveries that wait, are under way or set aside',
      registers,
    }),
  };
}
