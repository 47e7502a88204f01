/** Merging: a long task that writes a file, and a short one that replaces the sources with it. */
import type { GenerationHandle, GenerationInfo, Kernel, SegmentHandle } from '../../../native-bindings/index.js';
import { segmentFile, type ListState } from '../../store/index.js';
import type { CommitMergeTask, IngestResults, MergeTask } from '../contract/ingest-tasks.js';
import { changeOf, indexSchema, indexStore } from '../commit/index-of.js';
import { requiredState, type IngestContext } from '../contract/ingest-context.js';
import { bitmapOf, documentsIn, recordsDeletedSince } from '../commit/written-since.js';

type SegmentCounts = Pick<GenerationInfo['segments'][number], 'documentCount' | 'deletedCount'>;

/**
 * A small segment without live documents is merged with the others, so that the terms that disappear with it are known.
 * A larger one has too many terms for that.
 */
const EMPTY_DOCUMENTS_MAX = 1000;

export function merge({ kernel, stores }: IngestContext, task: MergeTask): IngestResults['merge'] {
  const store = stores.get(task.listPath);
  const counts = new Map(kernel.generationInfo(task.generation).segments.map((entry) => [entry.segment, entry]));
  const sizes = task.sources.flatMap((segment) => counts.get(segment) ?? []);
  if (sizes.every(isEmpty)) return undefined;
  const sources = sizes
    .filter((entry) => !isEmpty(entry) || entry.documentCount <= EMPTY_DOCUMENTS_MAX)
    .map(({ segment }) => ({ segment, ...deletedOf(kernel, task.generation, segment) }));
  const path = segmentFile(task.listPath, task.newSegment);
  try {
    const schema = indexSchema(task.definition, task.part);
    const { documentCount, fileBytes, lostTerms } = kernel.mergeSegments(path, schema, sources, task.generation);
    const isOfAll = sources.length === task.sources.length;
    return {
      handle: kernel.openSegment(path),
      documentCount,
      fileBytes,
      changedTerms: isOfAll ? lostTerms : undefined,
    };
  } catch (error) {
    throw store.asWriteError(error);
  }
}

function isEmpty({ documentCount, deletedCount }: SegmentCounts): boolean {
  return deletedCount === documentCount;
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
  const removed = task.sources.map((source) => source.id);
  const change =
    merged === undefined
      ? { added: [], goneTerms: kernel.lostTerms(task.now, task.sources.map(({ handle }) => handle)) } // prettier-ignore
      : { added: [{ ...merged, deleted: bitmapOf(deletedSince, merged.documentCount) }] };
  return { commit: { state, changes: [changeOf(task, { ...change, removed, deletions: [] })] } };
}
