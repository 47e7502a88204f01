/** Which buffers of an ingest task move to the worker instead of being copied: the raw records of a bulk batch. */
import type { IngestTask } from '../index/index.js';

export function ingestTransferList(task: IngestTask): ArrayBuffer[] {
  if (task.kind !== 'bulk-batch') return [];
  const buffers = new Set<ArrayBuffer>();
  for (const { bytes, ends, lines } of task.records) {
    for (const view of [bytes, ends, lines]) {
      // A view of part of a buffer shares it with others (Node's pool): that one is copied.
      if (view.buffer instanceof ArrayBuffer && view.byteLength === view.buffer.byteLength) buffers.add(view.buffer);
    }
  }
  return [...buffers];
}
