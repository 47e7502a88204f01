/**
 * Writes one log line and the metrics of each request. Logs the operation, its caller and what it was about; no key,
 * path or query string.
 */
import type { Logger } from 'pino';
import type { Caller } from '../access/index.js';
import { loggedCaller, loggedNames, type Operation, type PathParams } from '../operations/index.js';
import type { Metrics } from '../platform/index.js';

export interface ObservedRequest {
  readonly request: { readonly method: string };
  readonly requestId: string;
  /** Undefined if no operation was found. */
  readonly operation: Operation | undefined;
  readonly params: PathParams;
  /** Undefined if the caller was not admitted. */
  readonly caller: Caller | undefined;
  readonly beginMs: number;
}

export type Observer = (request: ObservedRequest, status: number, bytes: number) => void;

/** Metrics of one operation; `uncounted` is added to the counters when they are read. */
interface OperationMetrics {
  readonly seconds: { observe(seconds: number): void };
  readonly uncounted: Map<number, number>;
}

const NO_OPERATION = 'none';

export function createObserver(log: Logger, metrics: Metrics): Observer {
  const byOperation = new Map<string, OperationMetrics>();
  metrics.beforeReading(() => {
    for (const [operation, { uncounted }] of byOperation) {
      for (const [status, count] of uncounted) metrics.requests.inc({ operation, status: String(status) }, count);
      uncounted.clear();
    }
  });

  function measure(operation: string, status: number, seconds: number): void {
    let found = byOperation.get(operation);
    if (found === undefined) {
      found = { seconds: metrics.requestSeconds.of(operation), uncounted: new Map() };
      byOperation.set(operation, found);
    }
    const { uncounted } = found;
    uncounted.set(status, (uncounted.get(status) ?? 0) + 1);
    found.seconds.observe(seconds);
  }

  return ({ request, requestId, operation, params, caller, beginMs }, status, bytes) => {
    const ms = performance.now() - beginMs;
    const name = operation?.name ?? NO_OPERATION;
    measure(name, status, ms / 1000);
    if (!log.isLevelEnabled('info')) return;
    log.info({
      requestId,
      ...(caller && loggedCaller(caller, params)),
      method: request.method,
      operation: name,
      ...(caller && loggedNames(params)),
      status,
      ms: Math.round(ms * 1000) / 1000,
      bytes,
    });
  };
}
