/** One log line and the measurements of each request. No key, no path, no query string: operation and names only. */
import type { Logger } from 'pino';
import type { Caller } from '../access/index.js';
import type { Operation } from '../operations/index.js';
import type { Metrics } from '../platform/index.js';

export interface ObservedRequest {
  readonly request: { readonly method: string };
  readonly requestId: string;
  /** Undefined where no operation was found. */
  readonly operation: Operation | undefined;
  /** Undefined where the caller was not admitted. */
  readonly caller: Caller | undefined;
  readonly beginMs: number;
}

export type Observer = (visit: ObservedRequest, status: number, bytes: number) => void;

interface OperationMetrics {
  readonly seconds: { observe(seconds: number): void };
  readonly byStatus: Map<number, { inc(): void }>;
}

const NO_OPERATION = 'none';

export function createObserver(log: Logger, metrics: Metrics): Observer {
  // Metrics with their labels bound: looking the labels up costs more than counting.
  const byOperation = new Map<string, OperationMetrics>();

  function metricsOf(operation: string): OperationMetrics {
    let found = byOperation.get(operation);
    if (found === undefined) {
      found = { seconds: metrics.requestSeconds.labels(operation), byStatus: new Map() };
      byOperation.set(operation, found);
    }
    return found;
  }

  function count(operation: string, status: number, seconds: number): void {
    const bound = metricsOf(operation);
    let counter = bound.byStatus.get(status);
    if (counter === undefined) {
      counter = metrics.requests.labels(operation, String(status));
      bound.byStatus.set(status, counter);
    }
    counter.inc();
    bound.seconds.observe(seconds);
  }

  return ({ request, requestId, operation, caller, beginMs }, status, bytes) => {
    const ms = performance.now() - beginMs;
    const name = operation?.name ?? NO_OPERATION;
    count(name, status, ms / 1000);
    if (!log.isLevelEnabled('info')) return;
    log.info({
      requestId,
      key: caller?.key?.name ?? (caller?.kind === 'cli' ? '(command line)' : undefined),
      account: caller?.key?.account,
      method: request.method,
      operation: name,
      status,
      ms: Math.round(ms * 1000) / 1000,
      bytes,
    });
  };
}
