/**
 * Ingest tasks that rebuild the index of a version's vectors from the vectors kept with the records, and that merge its
 * segments.
 */
import { rmSync } from 'node:fs';
import type { Kernel } from '../../../native-bindings/index.js';
import {
  PICTURE_SPACE,
  vectorSegmentFile,
  type ListState,
  type MeaningState,
  type VectorSpace,
} from '../../store/index.js';
import { copyOfVectors, spaceStore, type SpaceStore } from '../../vectors/index.js';
import { buildVectorSegment, positionsOf } from '../commit/vector-index-commit.js';
import { bitmapOf } from '../commit/written-since.js';
import { requiredState, type IngestContext } from '../contract/ingest-context.js';
import type {
  BuildVectorsTask,
  BuiltSegment,
  CommitVectorIndexTask,
  CommitVectorMergeTask,
  IngestResults,
  MergeVectorsTask,
} from '../contract/ingest-tasks.js';
import { resting } from './meaning-handlers.js';

type Rows = [recordNumber: number, bytes: Buffer][];

export function buildVectors(
  { kernel, stores }: IngestContext,
  task: BuildVectorsTask,
): IngestResults['build-vectors'] {
  const store = stores.get(task.listPath);
  // The version may be dropped while the task waits for its turn; then there is nothing to do or to commit.
  if (!requiredState(store).versions.some(({ version }) => version === task.version))
    return { segment: undefined, cursor: task.cursor, done: true };
  const { rows, cursor, done } = nextRows(spaceStore(store, task.version, task.space), task);
  try {
    const id = task.newSegment;
    const built = buildVectorSegment(kernel, vectorSegmentFile(task.listPath, id), rows);
    return { segment: built && { id, ...built }, cursor, done };
  } catch (error) {
    throw store.asWriteError(error);
  }
}

function nextRows(vectors: SpaceStore, { cursor: start, bytesMax }: BuildVectorsTask) {
  const rows: Rows = [];
  let bytes = 0;
  for (const { key, value } of vectors.vectors.getRange({ start })) {
    if (bytes >= bytesMax) return { rows, cursor: key, done: false };
    rows.push([key, copyOfVectors(value)]);
    bytes += value.length;
  }
  return { rows, cursor: start, done: true };
}

/**
 * Puts a rebuilt index in force. A space that was being filled becomes the serving one with the index of its current
 * version.
 */
export function commitVectorIndex(
  { kernel, stores }: IngestContext,
  task: CommitVectorIndexTask,
): IngestResults['commit-vector-index'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const vectors = spaceStore(store, task.version, task.space).prepare();
  const written = [...new Set(task.written)];
  const rows = written.flatMap((recordNumber): Rows => {
    const bytes = vectors.get(recordNumber);
    return bytes === undefined ? [] : [[recordNumber, copyOfVectors(bytes)]];
  });
  const replaced = vectors.segments().map(({ id }) => id);
  const state: ListState = {
    ...before,
    sequence: before.sequence + 1,
    ...indexedState(before, task),
  };
  const path = vectorSegmentFile(task.listPath, task.newSegment);
  try {
    const outdated = task.segments.map(({ id }) => outdatedIn(kernel, vectorSegmentFile(task.listPath, id), written));
    const last = buildVectorSegment(kernel, path, rows);
    const segments = [...task.segments, ...(last === undefined ? [] : [{ id: task.newSegment, ...last }])];
    store.transaction(() => {
      for (const id of replaced) vectors.removeSegment(id);
      for (const segment of segments) putSegment(vectors, segment);
      for (const [position, { id }] of task.segments.entries()) vectors.addDeletions(id, outdated[position] ?? []);
      store.putState(state);
    });
  } catch (error) {
    rmSync(path, { force: true });
    throw store.asWriteError(error);
  }
  for (const id of replaced) rmSync(vectorSegmentFile(task.listPath, id), { force: true });
  return state;
}

function indexedState(
  { meaning, pictures, currentVersion }: ListState,
  task: CommitVectorIndexTask,
): Pick<ListState, 'meaning' | 'pictures'> {
  if (task.space === PICTURE_SPACE && pictures !== undefined) {
    const others = pictures.indexed.filter((version) => version !== task.version);
    return { pictures: { ...pictures, indexed: [...others, task.version] } };
  }
  return meaning === undefined ? {} : { meaning: indexedBy(meaning, task, currentVersion) };
}

function indexedBy(
  { nextSpace, spaces }: MeaningState,
  { space: number, version }: CommitVectorIndexTask,
  currentVersion: number,
): MeaningState {
  const serves = spaces.find((space) => space.number === number)?.state === 'filling' && version === currentVersion;
  return {
    nextSpace,
    spaces: spaces.map((space): VectorSpace => {
      if (space.number !== number) return serves && space.state === 'serving' ? resting(space) : space;
      const indexed = [...space.indexed.filter((each) => each !== version), version];
      return { ...space, indexed, state: serves ? 'serving' : space.state };
    }),
  };
}

function outdatedIn(kernel: Kernel, path: string, recordNumbers: readonly number[]): number[] {
  if (recordNumbers.length === 0) return [];
  const segment = kernel.openVectorSegment(path);
  try {
    return positionsOf(kernel, segment, recordNumbers);
  } finally {
    kernel.closeVectorSegment(segment);
  }
}

function putSegment(vectors: SpaceStore, { id, documentCount, fileBytes }: BuiltSegment): void {
  void vectors.manifest.putSync(id, { documentCount, deletedCount: 0, fileBytes });
}

export function mergeVectors(
  { kernel, stores }: IngestContext,
  task: MergeVectorsTask,
): IngestResults['merge-vectors'] {
  const store = stores.get(task.listPath);
  const sources = task.sources.map(({ handle }) => ({
    segment: handle,
    deleted: kernel.deadVectors(task.generation, handle),
  }));
  const counts = new Map(kernel.generationVectors(task.generation).map((entry) => [entry.segment, entry.vectorCount]));
  const isLeft = sources.some(({ segment, deleted }) => bitsIn(deleted) < (counts.get(segment) ?? 0));
  if (!isLeft) return undefined;
  try {
    const { vectorCount, fileBytes } = kernel.mergeVectorSegments(
      vectorSegmentFile(task.listPath, task.newSegment),
      sources,
    );
    return { id: task.newSegment, documentCount: vectorCount, fileBytes };
  } catch (error) {
    throw store.asWriteError(error);
  }
}

/** Deletions that happened during the merge are applied to the merged segment by record number. */
export function commitVectorMerge(
  { kernel, stores }: IngestContext,
  task: CommitVectorMergeTask,
): IngestResults['commit-vector-merge'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const vectors = spaceStore(store, task.version, task.space).prepare();
  const { merged } = task;
  const handle = merged && kernel.openVectorSegment(vectorSegmentFile(task.listPath, merged.id));
  const positions = handle === undefined ? [] : positionsOf(kernel, handle, recordsDeletedSince(kernel, task));
  const state: ListState = { ...before, sequence: before.sequence + 1 };
  try {
    store.transaction(() => {
      for (const { id } of task.sources) vectors.removeSegment(id);
      if (merged !== undefined) {
        putSegment(vectors, merged);
        vectors.addDeletions(merged.id, positions);
      }
      store.putState(state);
    });
  } catch (error) {
    if (handle !== undefined) kernel.closeVectorSegment(handle);
    throw error;
  }
  const added =
    merged === undefined || handle === undefined
      ? []
      : [{ id: merged.id, handle, deleted: bitmapOf(positions, merged.documentCount) }];
  const change = { space: task.space, added, removed: task.sources.map(({ id }) => id), deletions: [] };
  const isOfPictures = task.space === PICTURE_SPACE;
  const changes = [
    { version: task.version, added: [], removed: [], deletions: [], [isOfPictures ? 'pictures' : 'vectors']: change },
  ];
  return { commit: { state, changes } };
}

function recordsDeletedSince(kernel: Kernel, { before, now, sources }: CommitVectorMergeTask): Set<number> {
  const found = new Set<number>();
  for (const { handle } of sources) {
    const deletedNow = kernel.vectorDeletions(now, handle);
    if (deletedNow === undefined) continue;
    const deletedBefore = kernel.vectorDeletions(before, handle);
    const { records } = kernel.vectorSegmentRows(handle);
    for (const [position, recordNumber] of records.entries()) {
      if (isSet(deletedNow, position) && !(deletedBefore !== undefined && isSet(deletedBefore, position)))
        found.add(recordNumber);
    }
  }
  return found;
}

function isSet(bitmap: Uint8Array, position: number): boolean {
  return (((bitmap[position >> 3] ?? 0) >> (position & 7)) & 1) === 1;
}

function bitsIn(bitmap: Uint8Array): number {
  let bits = 0;
  for (const byte of bitmap) for (let rest = byte; rest !== 0; rest &= rest - 1) bits += 1;
  return bits;
}
