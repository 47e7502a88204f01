/** Ingest tasks of a list's life cycle: creating it, building and dropping versions. */
import { makeFolderNow } from '../../platform/index.js';
import {
  FieldNormaliser,
  decodeRecord,
  parseFields,
  type RecordStore,
  type VersionStore,
} from '../../records/index.js';
import {
  LIST_STATE_FORMAT,
  LIST_STATE_FORMAT_WITH_SHORT_RECORDS,
  buildingVersionOf,
  currentVersionOf,
  FIRST_RECORD_NUMBER,
  FIRST_VERSION,
  partOf,
  segmentsPath,
  withUnfit,
  type ListState,
  type VersionState,
  type VectorSpace,
} from '../../store/index.js';
import type {
  BuildStepTask,
  CreateListTask,
  DropVersionTask,
  IngestResults,
  KeepEntryTask,
  StartBuildTask,
} from '../contract/ingest-tasks.js';
import { fieldEvents, versionCurrentEvent } from '../../catalog/index.js';
import { extractStore, hashOfText, hasText, readKindsOf, textKindOf } from '../../extracts/index.js';
import { partStore } from '../parts/part-store.js';
import { EventRecorder } from '../commit/event-recorder.js';
import { forgetLinks } from '../commit/link-versions.js';
import { linkCommit } from '../commit/link-commit.js';
import { embeddingLane, embeddingQueue, hasEmbeddingQueue, spaceStore } from '../../vectors/index.js';
import { PartsCommit, type PartCommit } from '../commit/part-commit.js';
import { pictureCommit } from '../commit/picture-commit.js';
import type { SpaceCommit, WrittenRecord } from '../commit/space-commit.js';
import { VectorCommit } from '../commit/vector-commit.js';
import { committed, VersionCommit } from '../commit/version-commit.js';
import { prepareReadingAgain, readAgain, ReadablePagesReader } from '../parts/readable-pages.js';
import { requiredState, requiredVersion, type IngestContext } from '../contract/ingest-context.js';

export function createList({ stores }: IngestContext, task: CreateListTask): IngestResults['create-list'] {
  makeFolderNow(segmentsPath(task.listPath));
  const store = stores.get(task.listPath, { create: true });
  const state: ListState = {
    format: LIST_STATE_FORMAT,
    sequence: 1,
    nextRecordNumber: FIRST_RECORD_NUMBER,
    nextVersion: FIRST_VERSION + 1,
    currentVersion: FIRST_VERSION,
    versions: [readyVersion(FIRST_VERSION, task)],
  };
  store.version(FIRST_VERSION).prepare();
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

export function readyVersion(version: number, from: Pick<CreateListTask, 'nowMs' | 'definition'>): VersionState {
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
    // The renames of an abandoned build are combined with the new ones, because both versions are built from the
    // current one.
    renames: renamesAfter(buildingVersionOf(before)?.renames ?? {}, task.renames),
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
    ...picturesWith(before, (indexed) => [...indexed, version]),
    ...events.prepare(store),
  };
  store.version(version).prepare();
  store.transaction(() => {
    events.apply(store);
    store.putState(state);
  });
  return { state, version };
}

/** Combines two renamings: from the names before the first to the names after the second. */
export function renamesAfter(
  first: Readonly<Record<string, string>>,
  second: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const left = new Map(Object.entries(second));
  const chained = Object.entries(first).map(([from, between]) => {
    const to = left.get(between) ?? between;
    left.delete(between);
    return [from, to] as const;
  });
  // A field renamed by the first renaming no longer has its old name. Whatever the second renames from that name is
  // another field, which has no values yet.
  const all = new Map([...left, ...chained]);
  return Object.fromEntries([...all].filter(([from, to]) => from !== to));
}

export function buildStep({ kernel, stores }: IngestContext, task: BuildStepTask): IngestResults['build-step'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const building = buildingVersionOf(before);
  if (building?.version !== task.building.version) throw new Error('another version is being built');
  const source = store.version(before.currentVersion);
  const from = currentVersionOf(before).definition;
  const normaliser = new FieldNormaliser(building.definition, { from, renames: building.renames });
  const { version, definition, buildCursor } = building;
  const { nowMs } = task;
  const vectors = new VectorCommit({ kernel, store, nowMs, meaning: before.meaning }).ofVersion(
    task.building,
    definition,
    buildCursor,
  );
  const versions = before.versions.map((each) => each.version);
  const parts = new PartsCommit({ kernel, store, state: before });
  const pages = parts.ofVersion(task.building, definition, buildCursor);
  const part = { kernel, store, view: task.building, definition, firstNewRecord: buildCursor };
  const writer = new VersionCommit({
    ...part,
    store: store.version(version),
    listPath: task.listPath,
    vectors,
    links: linkCommit({
      store,
      version,
      versions,
      definition,
      kinds: readKindsOf(before),
      nowMs,
      firstNewRecord: buildCursor,
    }),
    pages,
    pictures: pictureCommit({ ...part, pictures: before.pictures }),
  });
  const reader = new ReadablePagesReader(extractStore(store));
  const copies = [
    ...vectorsToCopy(store, before.currentVersion, vectors),
    ...pagesToCopy({ store, state: before, reader, definition, renames: building.renames }, pages),
  ];
  const copied = copyRecords({ source, copies }, writer, normaliser, { ...task, cursor: buildCursor });
  const events = new EventRecorder(task.events, task.nowMs, before.events);
  if (copied.done) events.recordWith((list) => [versionCurrentEvent(list, building.version, building.definition)]);
  const state = {
    ...stateAfterStep(before, building, copied, normaliser.unfit),
    ...events.prepare(store),
    ...parts.statePart,
  };
  const { damaged } = reader;
  prepareReadingAgain(store, damaged);
  try {
    writer.buildSegment();
    store.transaction(() => {
      writer.apply();
      readAgain(store, damaged, nowMs);
      if (writer.changed) store.raiseFormat(LIST_STATE_FORMAT_WITH_SHORT_RECORDS);
      events.apply(store);
      store.putState(state);
    });
  } catch (error) {
    writer.discard();
    throw store.asWriteError(error);
  }
  const commit = committed(state, writer.changed ? [writer] : []);
  return { commit, done: copied.done, copied: copied.count, unfit: Object.fromEntries(normaliser.unfit), damaged };
}

/** Copies what a record has beside its fields; returns its approximate size in bytes. */
type Copy = (recordNumber: number, written: WrittenRecord) => number;

/** Vectors are copied, so that nothing is embedded again if the texts have not changed. */
function vectorsToCopy(store: RecordStore, version: number, to: readonly SpaceCommit[]): readonly Copy[] {
  return to.flatMap((space) => {
    const from = spaceStore(store, version, space.space.number);
    if (!from.exists) return [];
    return (recordNumber, written) => {
      const vectors = from.get(recordNumber);
      if (vectors !== undefined) space.copied(recordNumber, vectors, written);
      return vectors?.length ?? 0;
    };
  });
}

/** The contents of linked files are in the store, and only have to be indexed in the new version. */
function pagesToCopy(
  of: {
    readonly store: RecordStore;
    readonly state: ListState;
    readonly reader: ReadablePagesReader;
  } & Pick<VersionState, 'definition' | 'renames'>,
  to: PartCommit | undefined,
): readonly Copy[] {
  const { store, state, reader, definition, renames } = of;
  if (to === undefined || partOf(state, state.currentVersion, 'pages') === undefined) return [];
  const from = partStore(store, state.currentVersion, 'pages');
  const extracts = extractStore(store);
  const copy: Copy = (recordNumber, { fields }) => {
    const linked = from.attached(recordNumber).flatMap(({ field, url }) => {
      const name = renames[field] ?? field;
      const kind = textKindOf(definition, name);
      const row = kind && extracts.outline({ kind, url });
      if (kind === undefined || !hasText(row) || fields[name] !== url) return [];
      const { pages, mark } = reader.read({ kind, url });
      return [{ field: name, url, hash: `${hashOfText(row)}${mark}`, pages }];
    });
    if (linked.length > 0) to.replace(recordNumber, linked);
    return linked.reduce((sum, { pages }) => sum + charactersOf(pages), 0);
  };
  return [copy];
}

function charactersOf(pages: readonly { readonly text: string }[]): number {
  return pages.reduce((sum, { text }) => sum + text.length, 0);
}

interface Copied {
  readonly count: number;
  readonly cursor: number;
  readonly done: boolean;
}

function copyRecords(
  { source, copies }: { readonly source: VersionStore; readonly copies: readonly Copy[] },
  writer: VersionCommit,
  normaliser: FieldNormaliser,
  limits: { readonly cursor: number; readonly recordsMax: number; readonly bytesMax: number },
): Copied {
  let { cursor } = limits;
  let count = 0;
  let bytes = 0;
  for (const { key, value } of source.range({ start: cursor })) {
    if (count >= limits.recordsMax || bytes >= limits.bytesMax) return { count, cursor, done: false };
    const stored = decodeRecord(value);
    const fields = normaliser.normalise(parseFields(stored.fieldsJson), false);
    const written = { stored: { ...stored, fieldsJson: JSON.stringify(fields) }, fields, vectors: undefined };
    writer.put(key, written, undefined);
    bytes += value.length;
    for (const copy of copies) bytes += copy(key, written);
    count += 1;
    cursor = key + 1;
  }
  return { count, cursor, done: true };
}

/** When nothing is left to copy, the built version becomes the current one. */
function stateAfterStep(
  before: ListState,
  building: VersionState,
  copied: Copied,
  unfit: ReadonlyMap<string, number>,
): ListState {
  const after: VersionState = {
    ...withUnfit(building, unfit),
    buildCursor: copied.cursor,
    state: copied.done ? 'ready' : 'building',
  };
  return {
    ...before,
    sequence: before.sequence + 1,
    currentVersion: copied.done ? building.version : before.currentVersion,
    versions: before.versions.map((version) => (version.version === building.version ? after : version)),
  };
}

/** Also works for a version that is no longer in the state: removes what is left of it. */
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
    ...picturesWith(before, (indexed) => indexed.filter((version) => version !== task.version)),
    ...(before.parts === undefined ? {} : { parts: before.parts.filter(({ version }) => version !== task.version) }),
  };
  store.transaction(() => {
    store.putState(state);
  });
  forgetEmbedding(store, before, task.version);
  forgetLinks(store, before, task.version);
  // A crash from here on leaves databases that are in no state; they are dropped when the list is next opened.
  store.version(task.version).drop();
  store.forgetVersion(task.version);
  return state;
}

function meaningWith({ meaning }: ListState, change: (space: VectorSpace) => VectorSpace): Pick<ListState, 'meaning'> {
  return meaning === undefined ? {} : { meaning: { ...meaning, spaces: meaning.spaces.map(change) } };
}

function picturesWith(
  { pictures }: ListState,
  change: (indexed: readonly number[]) => readonly number[],
): Pick<ListState, 'pictures'> {
  return pictures === undefined ? {} : { pictures: { ...pictures, indexed: change(pictures.indexed) } };
}

/** A new version has an index from the first record on. */
function indexedWith(space: VectorSpace, version: number): VectorSpace {
  return space.state === 'serving' ? { ...space, indexed: [...space.indexed, version] } : space;
}

/** Removes the version's embedding work from the queue. */
function forgetEmbedding(store: RecordStore, { meaning }: ListState, version: number): void {
  if (!hasEmbeddingQueue(store)) return;
  const queue = embeddingQueue(store);
  for (const { number } of meaning?.spaces ?? []) {
    while (store.transaction(() => queue.forgetSome(embeddingLane(version, number))) > 0);
  }
}
