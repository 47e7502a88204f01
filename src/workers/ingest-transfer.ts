/**
 * Selects the buffers of an ingest task that are transferred to the worker instead of copied: the raw records of a bulk
 * batch.
 */
import type { IngestTask } from '../index/index.js';

export function ingestTransferList(task: IngestTask): ArrayBuffer[] {
  if (task.kind !== 'bulk-batch') return [];
  const buffers = new Set<ArrayBuffer>();
  for (const { bytes, ends, lines } of task.records) {
    for (const view of [bytes, ends, lines]) {
      // A view of a part of a buffer (of Node's pool) shares it with others, and is copied.
      if (view.buffer instanceof ArrayBuffer && view.byteLength === view.buffer.byteLength) buffers.add(view.buffer);
    }
  }
  return [...buffers];
}
