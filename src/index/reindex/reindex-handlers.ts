/**
 * Ingest tasks that rebuild the index of a version from its records: each piece writes a file, and one commit puts all
 * files in force.
 */
import { rmSync } from 'node:fs';
import type { Kernel } from '../../../native-bindings/index.js';
import type { RecordStore } from '../../records/index.js';
import { segmentFile, type ListState, type PartName } from '../../store/index.js';
import { changeOf, indexSchema, indexStore } from '../commit/index-of.js';
import { nextPiece, type IndexPiece } from './index-pieces.js';
import { partStore } from '../parts/part-store.js';
import { prepareReadingAgain, readAgain, withDamage } from '../parts/readable-pages.js';
import type {
  AddedSegment,
  CommitReindexTask,
  GenerationsSince,
  IngestResults,
  ReindexTask,
} from '../contract/ingest-tasks.js';
import { requiredState, requiredVersion, type IngestContext } from '../contract/ingest-context.js';
import { bitmapOf, documentsIn, recordsDeletedSince } from '../commit/written-since.js';

/** Due time of work that can start at once. */
const DUE = 0;

export function reindex({ kernel, stores }: IngestContext, task: ReindexTask): IngestResults['reindex'] {
  const store = stores.get(task.listPath);
  const { definition } = requiredVersion(requiredState(store), task.version);
  const { documents, cursor, done, damage } = nextPiece(store, definition, task);
  const damaged = damage?.files ?? [];
  if (task.part !== undefined && damage !== undefined && damaged.length > 0)
    keepDamage(store, { ...damage, version: task.version, part: task.part });
  if (documents.documentCount === 0) return { segment: undefined, cursor, done, damaged };
  const id = task.newSegment;
  try {
    const path = segmentFile(task.listPath, id);
    const schema = indexSchema(definition, task.part);
    const { documentCount, fileBytes } = kernel.buildSegment(path, schema, documents.finish());
    return { segment: { id, documentCount, fileBytes }, cursor, done, damaged };
  } catch (error) {
    throw store.asWriteError(error);
  }
}

interface Damage extends NonNullable<IndexPiece['damage']> {
  readonly version: number;
  readonly part: PartName;
}

/**
 * Queues these files to be read again, and marks the records that link to them, so that their pages are indexed again
 * then.
 */
function keepDamage(store: RecordStore, { files, records, version, part }: Damage): void {
  prepareReadingAgain(store, files);
  const stored = partStore(store, version, part).prepare();
  const urls = new Set(files.map(({ url }) => url));
  store.transaction(() => {
    for (const recordNumber of records) {
      const attached = stored.attached(recordNumber);
      stored.attach(
        recordNumber,
        attached.map((each) => (urls.has(each.url) ? { ...each, hash: withDamage(each.hash) } : each)),
      );
    }
    readAgain(store, files, DUE);
  });
}

export function commitReindex(
  { kernel, stores }: IngestContext,
  task: CommitReindexTask,
): IngestResults['commit-reindex'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  requiredVersion(before, task.version);
  const index = indexStore(store, task);
  const state: ListState = { ...before, sequence: before.sequence + 1 };
  const removed = (task.open?.sources ?? index.segments()).map(({ id }) => id);
  const added = task.open === undefined ? [] : openBuilt(kernel, task, task.open);
  try {
    store.transaction(() => {
      for (const id of removed) index.removeSegment(id);
      for (const { id, documentCount, fileBytes } of task.segments) {
        void index.manifest.putSync(id, { documentCount, fileBytes, deletedCount: 0 });
      }
      for (const { id, outdated } of added) index.addDeletions(id, outdated);
      store.putState(state);
    });
  } catch (error) {
    for (const { handle } of added) kernel.closeSegment(handle);
    throw error;
  }
  // Nobody has the files of a closed list open, so they are removed here, where freeing a large file delays no request.
  if (task.open === undefined) for (const id of removed) rmSync(segmentFile(task.listPath, id), { force: true });
  return { commit: { state, changes: [changeOf(task, { added, removed, deletions: [] })] } };
}

/** Opens the new segments, with their outdated documents: those of records that were written or removed since. */
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
