/** Ingest tasks of a list's life: creation, building of versions, dropping them, cloning. */
import { linkSync, mkdirSync, rmSync } from 'node:fs';
import { FieldNormaliser, RecordStore, decodeRecord, parseFields, type VersionStore } from '../../records/index.js';
import {
  LIST_STATE_FORMAT,
  buildingVersionOf,
  segmentFile,
  segmentsPath,
  vectorSegmentFile,
  type ListState,
  type VersionState,
  type VectorSpace,
} from '../../store/index.js';
import type {
  BuildStepTask,
  CloneListTask,
  CreateListTask,
  DropVersionTask,
  IngestResults,
  KeepEntryTask,
  StartBuildTask,
} from '../contract/ingest-tasks.js';
import { fieldEvents, versionCurrentEvent } from '../../catalog/index.js';
import { EventRecorder } from '../commit/event-recorder.js';
import {
  BuiltInModels,
  embeddingLane,
  embeddingQueue,
  hasEmbeddingQueue,
  spaceStore,
  type SpaceStore,
} from '../../vectors/index.js';
import { cloneLinks, forgetLinks } from '../commit/link-versions.js';
import { linkCommit } from '../commit/link-commit.js';
import type { SpaceCommit } from '../commit/space-commit.js';
import { VectorCommit } from '../commit/vector-commit.js';
import { committed, VersionCommit } from '../commit/version-commit.js';
import { requiredState, requiredVersion, type IngestContext } from '../contract/ingest-context.js';

/** Record numbers begin at 1, so that 0 never is one. */
const FIRST_RECORD_NUMBER = 1;
const CLONED_VERSION = 1;
/** Records that a clone copies in one transaction. */
const CLONE_RECORDS_PER_TRANSACTION = 10_000;

export function createList({ stores }: IngestContext, task: CreateListTask): IngestResults['create-list'] {
  mkdirSync(segmentsPath(task.listPath), { recursive: true });
  const store = stores.get(task.listPath, { create: true });
  const state: ListState = {
    format: LIST_STATE_FORMAT,
    sequence: 1,
    nextRecordNumber: FIRST_RECORD_NUMBER,
    nextVersion: 2,
    currentVersion: 1,
    versions: [readyVersion(1, task)],
  };
  store.version(1).prepare();
  store.transaction(() => {
    store.putState(state);
  });
  return state;
}

export function keepEntry({ stores }: IngestContext, task: KeepEntryTask): undefined {
  const store = stores.get(task.listPath);
  store.transaction(() => {
    store.putKeptEntry(task.list, task.region);
  });
  return undefined;
}

function readyVersion(version: number, from: Pick<CreateListTask, 'nowMs' | 'definition'>): VersionState {
  return {
    version,
    state: 'ready',
    created_utc: new Date(from.nowMs).toISOString(),
    definition: from.definition,
    buildCursor: 0,
    renames: {},
  };
}

export function startBuild({ stores }: IngestContext, task: StartBuildTask): IngestResults['start-build'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const version = before.nextVersion;
  const building: VersionState = {
    ...readyVersion(version, task),
    state: 'building',
    buildCursor: FIRST_RECORD_NUMBER,
    renames: task.renames,
  };
  const replaced = buildingVersionOf(before) ?? requiredVersion(before, before.currentVersion);
  const events = new EventRecorder(task.events, task.nowMs, before.events);
  events.recordWith((list) => fieldEvents(list, replaced.definition, task.definition, task.renames));
  const state: ListState = {
    ...before,
    sequence: before.sequence + 1,
    nextVersion: version + 1,
    versions: [...before.versions.filter((existing) => existing.state === 'ready'), building],
    ...meaningWith(before, (space) => indexedWith(space, version)),
    ...events.prepare(store),
  };
  store.version(version).prepare();
  store.transaction(() => {
    events.apply(store);
    store.putState(state);
  });
  return { state, version };
}

export function buildStep({ kernel, stores }: IngestContext, task: BuildStepTask): IngestResults['build-step'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const building = buildingVersionOf(before);
  if (building?.version !== task.building.version) throw new Error('another version is being built');
  const source = store.version(before.currentVersion);
  const normaliser = new FieldNormaliser(building.definition, { lenient: true, renames: building.renames });
  const { version, definition, buildCursor } = building;
  const { meaning } = before;
  const vectors = new VectorCommit({ kernel, store, nowMs: task.nowMs, meaning }).ofVersion(
    task.building,
    definition,
    buildCursor,
  );
  const { nowMs } = task;
  const versions = before.versions.map((each) => each.version);
  const writer = new VersionCommit({
    kernel,
    store: store.version(version),
    listPath: task.listPath,
    view: task.building,
    definition,
    firstNewRecord: buildCursor,
    vectors,
    links: linkCommit({ store, version, versions, definition, nowMs, firstNewRecord: buildCursor }),
  });
  const copies = vectorsToCopy(store, before.currentVersion, vectors);
  const copied = copyRecords({ source, copies }, writer, normaliser, { ...task, cursor: buildCursor });
  const events = new EventRecorder(task.events, task.nowMs, before.events);
  if (copied.done) events.recordWith((list) => [versionCurrentEvent(list, building.version, building.definition)]);
  const state = { ...stateAfterStep(before, building, copied), ...events.prepare(store) };
  try {
    writer.buildSegment();
    store.transaction(() => {
      writer.apply();
      events.apply(store);
      store.putState(state);
    });
  } catch (error) {
    writer.discard();
    throw store.asWriteError(error);
  }
  const commit = committed(state, writer.changed ? [writer] : []);
  return { commit, done: copied.done, copied: copied.count, conflicts: normaliser.conflicts };
}

type VectorCopies = readonly { readonly from: SpaceStore; readonly to: SpaceCommit }[];

/** Nothing is embedded again for a version whose texts are those of the one before. */
function vectorsToCopy(store: RecordStore, version: number, to: readonly SpaceCommit[]): VectorCopies {
  return to
    .map((space) => ({ from: spaceStore(store, version, space.space.number), to: space }))
    .filter(({ from }) => from.exists);
}

interface Copied {
  readonly count: number;
  readonly cursor: number;
  readonly done: boolean;
}

function copyRecords(
  { source, copies }: { readonly source: VersionStore; readonly copies: VectorCopies },
  writer: VersionCommit,
  normaliser: FieldNormaliser,
  limits: { readonly cursor: number; readonly recordsMax: number; readonly bytesMax: number },
): Copied {
  let { cursor } = limits;
  let count = 0;
  let bytes = 0;
  for (const { key, value } of source.records.getRange({ start: cursor })) {
    if (count >= limits.recordsMax || bytes >= limits.bytesMax) return { count, cursor, done: false };
    const stored = decodeRecord(value);
    const fields = normaliser.normalise(parseFields(stored.fieldsJson), false);
    const written = { stored: { ...stored, fieldsJson: JSON.stringify(fields) }, fields, vectors: undefined };
    writer.put(key, written, undefined);
    for (const { from, to } of copies) {
      const vectors = from.get(key);
      if (vectors !== undefined) to.copied(key, vectors, written);
    }
    count += 1;
    bytes += value.length;
    cursor = key + 1;
  }
  return { count, cursor, done: true };
}

/** With nothing left to copy, the built version becomes the current one. */
function stateAfterStep(before: ListState, building: VersionState, copied: Copied): ListState {
  const after: VersionState = { ...building, buildCursor: copied.cursor, state: copied.done ? 'ready' : 'building' };
  return {
    ...before,
    sequence: before.sequence + 1,
    currentVersion: copied.done ? building.version : before.currentVersion,
    versions: before.versions.map((version) => (version.version === building.version ? after : version)),
  };
}

/** Also for a version that the state does not name any more: what is left of it is removed. */
export function dropVersion({ stores }: IngestContext, task: DropVersionTask): IngestResults['drop-version'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  if (task.version === before.currentVersion) throw new Error('the current version cannot be dropped');
  const state: ListState = {
    ...before,
    sequence: before.sequence + 1,
    versions: before.versions.filter((version) => version.version !== task.version),
    ...meaningWith(before, (space) => ({
      ...space,
      indexed: space.indexed.filter((version) => version !== task.version),
    })),
  };
  store.transaction(() => {
    store.putState(state);
  });
  forgetEmbedding(store, before, task.version);
  forgetLinks(store, before, task.version);
  // A crash from here on leaves databases that no state names; they are dropped when the list is opened.
  store.version(task.version).drop();
  store.forgetVersion(task.version);
  return state;
}

function meaningWith({ meaning }: ListState, change: (space: VectorSpace) => VectorSpace): Pick<ListState, 'meaning'> {
  return meaning === undefined ? {} : { meaning: { ...meaning, spaces: meaning.spaces.map(change) } };
}

/** A version that begins has an index from the first record on. */
function indexedWith(space: VectorSpace, version: number): VectorSpace {
  return space.state === 'serving' ? { ...space, indexed: [...space.indexed, version] } : space;
}

/** Nothing is embedded for it any more. */
function forgetEmbedding(store: RecordStore, { meaning }: ListState, version: number): void {
  if (!hasEmbeddingQueue(store)) return;
  const queue = embeddingQueue(store);
  for (const { number } of meaning?.spaces ?? []) {
    while (store.transaction(() => queue.forgetSome(embeddingLane(version, number))) > 0);
  }
}

export function cloneList({ stores }: IngestContext, task: CloneListTask): IngestResults['clone-list'] {
  const source = stores.get(task.listPath);
  const state = requiredState(source);
  mkdirSync(segmentsPath(task.targetPath), { recursive: true });
  const target = new RecordStore(task.targetPath, { create: true });
  try {
    const from = source.version(state.currentVersion).prepare();
    const to = target.version(1).prepare();
    copyInTransactions(target, from.records.getRange(), ({ key, value }) => {
      to.putRecord(key, value);
    });
    copyInTransactions(target, from.names.getRange(), ({ key, value }) => void to.names.putSync(key, value));
    for (const { id, entry } of from.segments()) {
      linkSync(segmentFile(task.listPath, id), segmentFile(task.targetPath, id));
      target.transaction(() => void to.manifest.putSync(id, entry));
    }
    copyInTransactions(target, from.deletions.getRange(), ({ key, value }) => void to.deletions.putSync(key, value));
    const cloned: ListState = {
      ...cloneVectors(source, target, state),
      sequence: 1,
      nextRecordNumber: state.nextRecordNumber,
      nextVersion: 2,
      currentVersion: 1,
      versions: [
        readyVersion(1, { nowMs: task.nowMs, definition: requiredVersion(state, state.currentVersion).definition }),
      ],
    };
    const currentVersion = requiredVersion(state, state.currentVersion);
    cloneLinks({ source, target, from: currentVersion, to: CLONED_VERSION, nowMs: task.nowMs });
    // Last: a folder without a state is no list, whatever else is in it.
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

/** The vectors of the current version; what was still to be embedded is found by looking for records without any. */
function cloneVectors(
  source: RecordStore,
  target: RecordStore,
  { currentVersion, format, meaning }: ListState,
): Pick<ListState, 'format' | 'meaning'> {
  if (meaning === undefined) return { format };
  if (BuiltInModels.areIn(source)) copyModels(source, target, meaning.spaces);
  const spaces = meaning.spaces.map((space) => {
    const from = spaceStore(source, currentVersion, space.number);
    if (from.exists) {
      const to = spaceStore(target, CLONED_VERSION, space.number).prepare();
      copyInTransactions(target, from.vectors.getRange(), ({ key, value }) => {
        to.put(key, value);
      });
    }
    const isIndexed = from.exists && space.indexed.includes(currentVersion);
    if (isIndexed) linkVectorIndex({ source, target }, space.number, currentVersion);
    const indexed = isIndexed || !from.exists ? [CLONED_VERSION] : [];
    const cloned = { ...space, indexed: space.state === 'serving' ? indexed : [] };
    return space.source === 'embedder' ? { ...cloned, cursor: FIRST_RECORD_NUMBER } : cloned;
  });
  return { format, meaning: { ...meaning, spaces } };
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

function linkVectorIndex(
  { source, target }: { readonly source: RecordStore; readonly target: RecordStore },
  space: number,
  version: number,
): void {
  const from = spaceStore(source, version, space);
  const to = spaceStore(target, CLONED_VERSION, space).prepare();
  for (const { id, entry } of from.segments()) {
    linkSync(vectorSegmentFile(source.listPath, id), vectorSegmentFile(target.listPath, id));
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
