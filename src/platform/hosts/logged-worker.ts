/** Log lines and metrics about hosted workers. */
import type { Logger } from 'pino';
import type { Metrics } from '../metrics.js';
import type { HostOptions } from './host.js';
import type { Protocol } from './protocol.js';

/** Returns handlers that log deaths and bugs of a worker and count deaths. `pool` names the worker in both. */
export function loggedWorker(
  pool: string,
  { log, metrics }: { readonly log: Logger; readonly metrics: Metrics },
): Pick<HostOptions<Protocol>, 'onDeath' | 'onBug'> {
  return {
    onDeath: (error) => {
      metrics.workerDeaths.inc({ pool });
      log.error({ pool, err: error }, 'A worker died; starting a new one');
    },
    onBug: (question, stack) => {
      log.error({ pool, question, stack }, 'A worker failed unexpectedly');
    },
  };
}
