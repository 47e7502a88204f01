/**
 * Creates a list as a copy of another: its records and what is kept beside them, with hard links to its segments.
 * Unfinished work of the source is found again for the copy.
 */
import { rmSync } from 'node:fs';
import { linkOrCopyNow, makeFolderNow } from '../../platform/index.js';
import { RecordStore } from '../../records/index.js';
import {
  FIRST_RECORD_NUMBER,
  FIRST_VERSION,
  partOf,
  PICTURE_SPACE,
  segmentFile,
  segmentsPath,
  vectorSegmentFile,
  type ListState,
  type SegmentManifest,
  type VectorSpace,
} from '../../store/index.js';
import { readKindsOf } from '../../extracts/index.js';
import { BuiltInModels, spaceStore } from '../../vectors/index.js';
import { requiredState, requiredVersion, type IngestContext } from '../contract/ingest-context.js';
import type { CloneListTask, IngestResults } from '../contract/ingest-tasks.js';
import { cloneLinks } from '../commit/link-versions.js';
import { partStore } from '../parts/part-store.js';
import { readyVersion } from './version-handlers.js';

/** Number of records that are copied in one transaction. */
const CLONE_RECORDS_PER_TRANSACTION = 10_000;

export function cloneList({ stores }: IngestContext, task: CloneListTask): IngestResults['clone-list'] {
  const source = stores.get(task.listPath);
  const state = requiredState(source);
  makeFolderNow(segmentsPath(task.targetPath));
  const target = new RecordStore(task.targetPath, { create: true });
  try {
    // Packed records are copied as they are, so they need the dictionaries.
    target.transaction(() => {
      target.copyWords(source);
    });
    const from = source.version(state.currentVersion).prepare();
    const to = target.version(FIRST_VERSION).prepare();
    copyInTransactions(target, from.records.getRange(), ({ key, value }) => {
      to.putRecord(key, value);
    });
    copyInTransactions(target, from.names.getRange(), ({ key, value }) => void to.names.putSync(key, value));
    linkIndex({ source, target, fileOf: segmentFile }, from, to);
    const currentVersion = requiredVersion(state, state.currentVersion);
    const { definition, unfit } = currentVersion;
    const cloned: ListState = {
      ...cloneVectors(source, target, state),
      ...clonePages(source, target, state),
      ...clonePictures(source, target, state),
      sequence: 1,
      nextRecordNumber: state.nextRecordNumber,
      nextVersion: FIRST_VERSION + 1,
      currentVersion: FIRST_VERSION,
      versions: [
        {
          ...readyVersion(FIRST_VERSION, { nowMs: task.nowMs, definition }),
          ...(unfit === undefined ? {} : { unfit }),
        },
      ],
    };
    cloneLinks({
      source,
      target,
      from: currentVersion,
      to: FIRST_VERSION,
      kinds: readKindsOf(state),
      nowMs: task.nowMs,
    });
    // Last: a folder without a state is not a list, whatever else it contains.
    target.transaction(() => {
      target.putState(cloned);
    });
    return cloned;
  } catch (error) {
    rmSync(task.targetPath, { recursive: true, force: true });
    throw target.asWriteError(error);
  } finally {
    void target.close();
  }
}

/**
 * Copies the vectors of the current version. Records that are still to be embedded are found again by searching for
 * those without vectors.
 */
function cloneVectors(
  source: RecordStore,
  target: RecordStore,
  { currentVersion, format, meaning }: ListState,
): Pick<ListState, 'format' | 'meaning'> {
  if (meaning === undefined) return { format };
  if (BuiltInModels.areIn(source)) copyModels(source, target, meaning.spaces);
  const spaces = meaning.spaces.map((space) => {
    const indexed = cloneSpace(source, target, { ...space, version: currentVersion });
    const cloned = { ...space, indexed: space.state === 'serving' ? indexed : [] };
    return space.source === 'embedder' ? { ...cloned, cursor: FIRST_RECORD_NUMBER } : cloned;
  });
  return { format, meaning: { ...meaning, spaces } };
}

interface ClonedSpace extends Pick<VectorSpace, 'number' | 'indexed'> {
  readonly version: number;
}

/** Returns the versions of the clone that have an index of these vectors. */
function cloneSpace(source: RecordStore, target: RecordStore, { number, indexed, version }: ClonedSpace): number[] {
  const from = spaceStore(source, version, number);
  if (!from.exists) return [FIRST_VERSION];
  const to = spaceStore(target, FIRST_VERSION, number).prepare();
  copyInTransactions(target, from.vectors.getRange(), ({ key, value }) => {
    to.put(key, value);
  });
  if (!indexed.includes(version)) return [];
  linkIndex({ source, target, fileOf: vectorSegmentFile }, from, to);
  return [FIRST_VERSION];
}

/** Copies the vectors of the pictures that records link to. */
function clonePictures(
  source: RecordStore,
  target: RecordStore,
  { currentVersion, pictures }: ListState,
): Pick<ListState, 'pictures'> {
  if (pictures === undefined) return {};
  const space = { number: PICTURE_SPACE, indexed: pictures.indexed, version: currentVersion };
  return { pictures: { ...pictures, indexed: cloneSpace(source, target, space) } };
}

function copyModels(source: RecordStore, target: RecordStore, spaces: readonly VectorSpace[]): void {
  const [from, to] = [BuiltInModels.of(source), BuiltInModels.of(target)];
  for (const { modelVersion } of spaces) {
    const bytes = from.bytes(modelVersion);
    if (bytes === undefined) continue;
    target.transaction(() => {
      to.put(modelVersion, bytes);
    });
  }
}

/** Copies which pages belong to which records, and their index. */
function clonePages(source: RecordStore, target: RecordStore, state: ListState): Pick<ListState, 'parts'> {
  if (state.parts === undefined) return {};
  const part = partOf(state, state.currentVersion, 'pages');
  if (part === undefined) return { parts: [] };
  const from = partStore(source, state.currentVersion, 'pages').prepare();
  const to = partStore(target, FIRST_VERSION, 'pages').prepare();
  copyInTransactions(target, from.rows.getRange(), ({ key, value }) => {
    to.attach(key, value);
  });
  linkIndex({ source, target, fileOf: segmentFile }, from, to);
  return { parts: [{ ...part, version: FIRST_VERSION }] };
}

interface LinkedIndex {
  readonly source: RecordStore;
  readonly target: RecordStore;
  readonly fileOf: typeof segmentFile;
}

/** Links the segment files, or copies them if the file system has no hard links, and copies the manifest. */
function linkIndex({ source, target, fileOf }: LinkedIndex, from: SegmentManifest, to: SegmentManifest): void {
  for (const { id, entry } of from.segments()) {
    linkOrCopyNow(fileOf(source.listPath, id), fileOf(target.listPath, id));
    target.transaction(() => void to.manifest.putSync(id, entry));
  }
  copyInTransactions(target, from.deletions.getRange(), ({ key, value }) => void to.deletions.putSync(key, value));
}

function copyInTransactions<Entry>(target: RecordStore, entries: Iterable<Entry>, copy: (entry: Entry) => void): void {
  let chunk: Entry[] = [];
  const flush = () => {
    target.transaction(() => {
      for (const entry of chunk) copy(entry);
    });
    chunk = [];
  };
  for (const entry of entries) {
    chunk.push(entry);
    if (chunk.length >= CLONE_RECORDS_PER_TRANSACTION) flush();
  }
  flush();
}
