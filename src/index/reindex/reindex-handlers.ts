/** Rebuilding the index of a version from its records: pieces that each write a file, and one commit that puts them in force. */
import { rmSync } from 'node:fs';
import type { Kernel } from '../../../native-bindings/index.js';
import { ServiceError } from '../../platform/index.js';
import { decodeRecord, parseFields, type VersionStore } from '../../records/index.js';
import { segmentFile, type ListState } from '../../store/index.js';
import { DocumentEncoder } from '../segments/document-encoder.js';
import type {
  AddedSegment,
  CommitReindexTask,
  GenerationsSince,
  IngestResults,
  ReindexTask,
} from '../contract/ingest-tasks.js';
import { requiredState, requiredVersion, type IngestContext } from '../contract/ingest-context.js';
import { bitmapOf, documentsIn, recordsDeletedSince } from '../commit/written-since.js';

export function reindex({ kernel, stores }: IngestContext, task: ReindexTask): IngestResults['reindex'] {
  const store = stores.get(task.listPath);
  const { definition } = requiredVersion(requiredState(store), task.version);
  const encoder = new DocumentEncoder(definition);
  const { cursor, done } = encodeRecords(store.version(task.version), encoder, task);
  if (encoder.documentCount === 0) return { segment: undefined, cursor, done };
  const id = task.newSegment;
  try {
    const path = segmentFile(task.listPath, id);
    const { documentCount, fileBytes } = kernel.buildSegment(path, encoder.layout.schema, encoder.finish());
    return { segment: { id, documentCount, fileBytes }, cursor, done };
  } catch (error) {
    throw store.asWriteError(error);
  }
}

/** A stored record holds what its version indexes: what a definition changed was applied when it was written. */
function encodeRecords(
  version: VersionStore,
  encoder: DocumentEncoder,
  { cursor: start, recordsMax, bytesMax }: ReindexTask,
): { readonly cursor: number; readonly done: boolean } {
  let cursor = start;
  let bytes = 0;
  try {
    for (const { key, value } of version.records.getRange({ start })) {
      cursor = key;
      if (encoder.documentCount >= recordsMax || bytes >= bytesMax) return { cursor, done: false };
      const stored = decodeRecord(value);
      encoder.add(key, stored, parseFields(stored.fieldsJson));
      bytes += value.length;
      cursor = key + 1;
    }
    return { cursor, done: true };
  } catch (error) {
    const detail = `Record ${cursor} of version ${version.version} cannot be read from the list's store: ${String(error)}.`;
    throw new ServiceError('unprocessable', detail, { cause: error });
  }
}

export function commitReindex(
  { kernel, stores }: IngestContext,
  task: CommitReindexTask,
): IngestResults['commit-reindex'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  requiredVersion(before, task.version);
  const version = store.version(task.version).prepare();
  const state: ListState = { ...before, sequence: before.sequence + 1 };
  const removed = (task.open?.sources ?? version.segments()).map(({ id }) => id);
  const added = task.open === undefined ? [] : openBuilt(kernel, task, task.open);
  try {
    store.transaction(() => {
      for (const id of removed) version.removeSegment(id);
      for (const { id, documentCount, fileBytes } of task.segments) {
        void version.manifest.putSync(id, { documentCount, fileBytes, deletedCount: 0 });
      }
      for (const { id, outdated } of added) version.addDeletions(id, outdated);
      store.putState(state);
    });
  } catch (error) {
    for (const { handle } of added) kernel.closeSegment(handle);
    throw error;
  }
  // Nobody has the files of a closed list open: they go here, where freeing a large one keeps no request waiting.
  if (task.open === undefined) for (const id of removed) rmSync(segmentFile(task.listPath, id), { force: true });
  return { commit: { state, changes: [{ version: task.version, added, removed, deletions: [] }] } };
}

/** The new segments with the documents in them that are not good any more: records that were written or removed since. */
function openBuilt(
  kernel: Kernel,
  { listPath, segments }: CommitReindexTask,
  open: GenerationsSince,
): (AddedSegment & { readonly outdated: readonly number[] })[] {
  const written = open.others.flatMap((segment) => Array.from(kernel.recordNumbers(segment)));
  const records = [...written, ...recordsDeletedSince(kernel, open)];
  const opened: (AddedSegment & { readonly outdated: readonly number[] })[] = [];
  try {
    for (const { id, documentCount } of segments) {
      const handle = kernel.openSegment(segmentFile(listPath, id));
      opened.push({ id, handle, deleted: undefined, outdated: [] });
      const outdated = documentsIn(kernel, handle, records);
      opened[opened.length - 1] = { id, handle, deleted: bitmapOf(outdated, documentCount), outdated };
    }
    return opened;
  } catch (error) {
    for (const { handle } of opened) kernel.closeSegment(handle);
    throw error;
  }
}
