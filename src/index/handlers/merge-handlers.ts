/** Merging: a long task that writes a file, and a short one that puts it in the place of its sources. */
import type { GenerationHandle, Kernel, SegmentHandle } from '../../../native-bindings/index.js';
import { segmentFile, type ListState } from '../../records/index.js';
import type { CommitMergeTask, IngestResults, MergeTask } from '../ingest-tasks.js';
import { kernelLayout } from '../kernel-layout.js';
import { requiredState, type IngestContext } from './context.js';

const NOT_FOUND = 0xffff_ffff;

export function merge({ kernel, stores }: IngestContext, task: MergeTask): IngestResults['merge'] {
  const store = stores.get(task.listPath);
  const counts = new Map(kernel.generationInfo(task.generation).segments.map((entry) => [entry.segment, entry]));
  const sources = task.sources
    .filter((segment) => {
      const entry = counts.get(segment);
      return entry !== undefined && entry.deletedCount < entry.documentCount;
    })
    .map((segment) => ({ segment, ...deletedOf(kernel, task.generation, segment) }));
  if (sources.length === 0) return undefined;
  const path = segmentFile(task.listPath, task.newSegment);
  try {
    const summary = kernel.mergeSegments(path, kernelLayout(task.definition).schema, sources);
    return { handle: kernel.openSegment(path), documentCount: summary.documentCount, fileBytes: summary.fileBytes };
  } catch (error) {
    throw store.asWriteError(error);
  }
}

function deletedOf(kernel: Kernel, generation: GenerationHandle, segment: SegmentHandle): { deleted?: Uint8Array } {
  const deleted = kernel.generationDeletions(generation, segment);
  return deleted === undefined ? {} : { deleted };
}

export function commitMerge({ kernel, stores }: IngestContext, task: CommitMergeTask): IngestResults['commit-merge'] {
  const store = stores.get(task.listPath);
  const version = store.version(task.version).prepare();
  const { merged } = task;
  const deletedSince = merged === undefined ? [] : documentsDeletedSince(kernel, task, merged.handle);
  const before = requiredState(store);
  const state: ListState = { ...before, sequence: before.sequence + 1 };
  store.transaction(() => {
    for (const source of task.sources) version.removeSegment(source.id);
    if (merged !== undefined) {
      const { documentCount, fileBytes } = merged;
      void version.manifest.putSync(merged.id, { documentCount, fileBytes, deletedCount: 0 });
      version.addDeletions(merged.id, deletedSince);
    }
    store.putState(state);
  });
  const added = merged && {
    id: merged.id,
    handle: merged.handle,
    deleted: bitmapOf(deletedSince, merged.documentCount),
  };
  const removed = task.sources.map((source) => source.id);
  return { commit: { state, changes: [{ version: task.version, added, removed, deletions: [] }] } };
}

/** Documents of the merged segment whose records were replaced or removed while it was made. */
function documentsDeletedSince(kernel: Kernel, task: CommitMergeTask, merged: SegmentHandle): number[] {
  const recordNumbers: number[] = [];
  for (const { handle } of task.sources) {
    const now = kernel.generationDeletions(task.now, handle);
    if (now === undefined) continue;
    const before = kernel.generationDeletions(task.before, handle);
    const numbers = kernel.recordNumbers(handle);
    now.forEach((byte, index) => {
      let added = byte & ~(before?.[index] ?? 0);
      for (let bit = 0; added !== 0; ++bit, added >>= 1) {
        if ((added & 1) !== 0) recordNumbers.push(numbers[index * 8 + bit] as number);
      }
    });
  }
  if (recordNumbers.length === 0) return [];
  return Array.from(kernel.documentsOf(merged, Uint32Array.from(recordNumbers))).filter(
    (document) => document !== NOT_FOUND,
  );
}

function bitmapOf(documents: readonly number[], documentCount: number): Uint8Array | undefined {
  if (documents.length === 0) return undefined;
  const bitmap = new Uint8Array(Math.ceil(documentCount / 8));
  for (const document of documents) bitmap[document >> 3] = (bitmap[document >> 3] as number) | (1 << (document & 7));
  return bitmap;
}
