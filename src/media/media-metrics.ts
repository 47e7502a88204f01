/** Metrics of media stores. */
import { Counter, Gauge } from 'prom-client';
import { ServiceError, type Metrics } from '../platform/index.js';

export type MediaAction = 'upload' | 'read' | 'list' | 'delete';

export interface MediaMetrics {
  measured<Result>(action: MediaAction, run: () => Promise<Result>): Promise<Result>;
}

/** `used` returns bytes and files of all built-in stores; it is called when metrics are read. */
export function createMediaMetrics(
  metrics: Metrics,
  used: () => { readonly bytes: number; readonly files: number },
): MediaMetrics {
  const registers = [metrics.registry];
  const actions = new Counter({
    name: 'gannet_media_actions_total',
    help: 'Uploads, reads, listings and deletions of media stores, by their outcome: done, or the code of the error',
    labelNames: ['action', 'outcome'],
    registers,
  });
  const bytes = new Gauge({
    name: 'gannet_media_bytes',
    help: 'Bytes of all files in built-in media stores',
    registers,
  });
  const files = new Gauge({ name: 'gannet_media_files', help: 'Files in built-in media stores', registers });
  metrics.beforeReading(() => {
    const now = used();
    bytes.set(now.bytes);
    files.set(now.files);
  });
  return {
    async measured(action, run) {
      try {
        const result = await run();
        actions.inc({ action, outcome: 'done' });
        return result;
      } catch (error) {
        actions.inc({ action, outcome: error instanceof ServiceError ? error.code : 'broken-off' });
        throw error;
      }
    },
  };
}
