/** Merging: a long task that writes a file, and a short one that puts it in the place of its sources. */
import type { GenerationHandle, Kernel, SegmentHandle } from '../../../native-bindings/index.js';
import { segmentFile, type ListState } from '../../store/index.js';
import type { CommitMergeTask, IngestResults, MergeTask } from '../contract/ingest-tasks.js';
import { changeOf, indexSchema, indexStore } from '../commit/index-of.js';
import { requiredState, type IngestContext } from '../contract/ingest-context.js';
import { bitmapOf, documentsIn, recordsDeletedSince } from '../commit/written-since.js';

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
    const schema = indexSchema(task.definition, task.part);
    const { documentCount, fileBytes, losesTerms } = kernel.mergeSegments(path, schema, sources, task.generation);
    // Terms of what has no live document are gone with it.
    const isOfAll = sources.length === task.sources.length;
    return {
      handle: kernel.openSegment(path),
      documentCount,
      fileBytes,
      newTerms: isOfAll && losesTerms === false ? [] : undefined,
    };
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
  const index = indexStore(store, task);
  const { merged } = task;
  const deletedSince =
    merged === undefined ? [] : documentsIn(kernel, merged.handle, recordsDeletedSince(kernel, task));
  const before = requiredState(store);
  const state: ListState = { ...before, sequence: before.sequence + 1 };
  store.transaction(() => {
    for (const source of task.sources) index.removeSegment(source.id);
    if (merged !== undefined) {
      const { documentCount, fileBytes } = merged;
      void index.manifest.putSync(merged.id, { documentCount, fileBytes, deletedCount: 0 });
      index.addDeletions(merged.id, deletedSince);
    }
    store.putState(state);
  });
  const added = merged === undefined ? [] : [{ ...merged, deleted: bitmapOf(deletedSince, merged.documentCount) }];
  const removed = task.sources.map((source) => source.id);
  return { commit: { state, changes: [changeOf(task, { added, removed, deletions: [] })] } };
}
