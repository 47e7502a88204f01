/**
 * Ingest tasks for the vectors of a list: attaching its model, queueing records to be embedded, and storing the
 * results.
 */
import { ServiceError } from '../../platform/index.js';
import { decodeRecord, parseFields, type RecordStore } from '../../records/index.js';
import {
  buildingVersionOf,
  currentVersionOf,
  FIRST_RECORD_NUMBER,
  LIST_STATE_FORMAT_WITH_VECTORS,
  type ListState,
  type MeaningState,
  type VectorSpace,
  type VersionState,
  SPACES_MAX,
} from '../../store/index.js';
import {
  BuiltInModels,
  embeddingLane,
  embeddingQueue,
  encodeVectors,
  hashOfVectors,
  hasEmbeddingQueue,
  spaceStore,
  textHash,
  textOfRecord,
} from '../../vectors/index.js';
import type {
  AttachModelTask,
  CommitVectorsTask,
  IngestResults,
  QueueEmbeddingsTask,
  RenderTextsTask,
  RetryEmbeddingsTask,
  TextOfRecord,
} from '../contract/ingest-tasks.js';
import { VectorIndexCommit } from '../commit/vector-index-commit.js';
import { requiredState, type IngestContext } from '../contract/ingest-context.js';

/** The other two are those of pictures and of a space that was just removed. */
const SPACES_OF_MODELS_MAX = SPACES_MAX - 2;
const NO_SPACES: MeaningState = { nextSpace: 1, spaces: [] };

export function attachModel({ stores }: IngestContext, task: AttachModelTask): IngestResults['attach-model'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const meaning = attached(before, task.model);
  const { model, learned } = task;
  const models = learned === undefined ? undefined : BuiltInModels.of(store);
  const state: ListState = {
    ...before,
    format: Math.max(before.format, LIST_STATE_FORMAT_WITH_VECTORS),
    sequence: before.sequence + 1,
    meaning,
  };
  openQueue(store, meaning);
  try {
    store.transaction(() => {
      if (learned !== undefined && model !== null) models?.put(model.modelVersion, learned);
      store.putState(state);
    });
  } catch (error) {
    throw store.asWriteError(error);
  }
  return state;
}

/**
 * Returns the spaces of a list that gets this model. Those of its earlier models become resting, so that trying another
 * model loses nothing.
 */
function attached(before: ListState, model: AttachModelTask['model']): MeaningState {
  const { nextSpace, spaces } = before.meaning ?? NO_SPACES;
  if (model === null) return { nextSpace, spaces: spaces.map(resting) };
  const same = spaces.find((space) => isSpaceOf(space, model));
  if (same === undefined && spaces.length >= SPACES_OF_MODELS_MAX) throw tooManySpaces(spaces.length);
  const serving = spaces.find(({ state }) => state === 'serving');
  // The serving space continues to serve until the new one is complete.
  const state = serving === undefined || serving === same ? 'serving' : 'filling';
  const cursor = model.source === 'own' ? null : FIRST_RECORD_NUMBER;
  const dimensions = model.dimensions ?? same?.dimensions ?? null;
  // A space without vectors has a complete index as soon as commits keep it up to date.
  const fresh = [
    before.currentVersion,
    ...(buildingVersionOf(before) === undefined ? [] : [buildingVersionOf(before)?.version ?? 0]),
  ];
  const indexed = same === undefined ? (state === 'serving' ? fresh : []) : same.state === state ? same.indexed : [];
  const wanted: VectorSpace = { ...(same ?? { number: nextSpace }), ...model, dimensions, state, cursor, indexed };
  const others = spaces
    .filter((space) => space !== same)
    .map((space): VectorSpace => (space.state === 'filling' ? resting(space) : space));
  return { nextSpace: same === undefined ? nextSpace + 1 : nextSpace, spaces: [...others, wanted] };
}

/**
 * Few spaces of earlier models are kept (`ModelAttachment`), so most of these must be vectors that came with records.
 */
function tooManySpaces(count: number): ServiceError {
  const detail = `the list has vectors of ${count} models and lengths already, those that came with its records among them, which are nowhere else: a list of its own has room for others`;
  return new ServiceError('unprocessable', `${detail}.`);
}

/** A resting space has no index that is kept up to date. */
export function resting(space: VectorSpace): VectorSpace {
  return { ...space, state: 'resting', indexed: [] };
}

/** True if the space has the vectors of this model. Without given dimensions, any length matches. */
function isSpaceOf(space: VectorSpace, model: NonNullable<AttachModelTask['model']>): boolean {
  return (
    space.source === model.source &&
    space.modelVersion === model.modelVersion &&
    (space.dimensions === model.dimensions || model.dimensions === null)
  );
}

function openQueue(store: RecordStore, { spaces }: MeaningState): void {
  if (spaces.some(({ source }) => source === 'embedder')) void embeddingQueue(store);
}

export function queueEmbeddings(
  { stores }: IngestContext,
  task: QueueEmbeddingsTask,
): IngestResults['queue-embeddings'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const space = before.meaning?.spaces.find(({ number }) => number === task.space);
  if (space === undefined || space.cursor === null) return { state: before, done: true };
  const version = currentVersionOf(before);
  const found = recordsWithout(store, { version, space, cursor: space.cursor }, task);
  const building = buildingVersionOf(before);
  const queue = embeddingQueue(store);
  const state = withSpace(before, { ...space, cursor: found.done ? null : found.cursor });
  store.transaction(() => {
    for (const each of [version, ...(building === undefined ? [] : [building])]) {
      const lane = embeddingLane(each.version, space.number);
      const numbers = found.recordNumbers.filter((number) => each === version || number < each.buildCursor);
      const work = numbers.map((recordNumber) => ({ lane, item: recordNumber }));
      if (work.length > 0) queue.put(work, task.nowMs);
    }
    store.putState(state);
  });
  return { state, done: found.done };
}

interface Scan {
  readonly version: VersionState;
  readonly space: VectorSpace;
  readonly cursor: number;
}

/** Returns the next records whose vectors are missing or were made from another text. */
function recordsWithout(store: RecordStore, { version, space, cursor: start }: Scan, task: QueueEmbeddingsTask) {
  const vectors = spaceStore(store, version.version, space.number).prepare();
  const recordNumbers: number[] = [];
  let cursor = start;
  let read = 0;
  for (const { key, value } of store.version(version.version).range({ start })) {
    if (read >= task.recordsMax) return { recordNumbers, cursor, done: false };
    const { hash } = renderedText(version, value, key, space);
    const stored = vectors.get(key);
    if (stored === undefined || hash === undefined || Buffer.compare(hash, hashOfVectors(stored)) !== 0)
      recordNumbers.push(key);
    read += 1;
    cursor = key + 1;
  }
  return { recordNumbers, cursor, done: true };
}

export function renderTexts({ stores }: IngestContext, task: RenderTextsTask): IngestResults['render-texts'] {
  const store = stores.get(task.listPath);
  const state = requiredState(store);
  const version = state.versions.find((candidate) => candidate.version === task.version);
  // The version may be dropped while the task waits for its turn, and its records with it.
  if (version === undefined) return task.recordNumbers.map(goneText);
  const space = state.meaning?.spaces.find(({ number }) => number === task.space);
  const records = store.version(task.version);
  return task.recordNumbers.map((recordNumber) => {
    const bytes = records.record(recordNumber);
    return bytes === undefined || space === undefined
      ? goneText(recordNumber)
      : renderedText(version, bytes, recordNumber, space);
  });
}

function goneText(recordNumber: number): TextOfRecord {
  return { recordNumber, text: undefined, hash: undefined, isGone: true };
}

function renderedText(
  { definition }: VersionState,
  bytes: Uint8Array,
  recordNumber: number,
  space: VectorSpace,
): TextOfRecord {
  const stored = decodeRecord(bytes);
  const text = textOfRecord(definition, stored, parseFields(stored.fieldsJson));
  return { recordNumber, text, hash: text && textHash(text, space), isGone: false };
}

/** Stores the vectors and settles the work in one transaction. Results that were superseded meanwhile are ignored. */
export function commitVectors(
  { kernel, stores }: IngestContext,
  task: CommitVectorsTask,
): IngestResults['commit-vectors'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const queue = embeddingQueue(store);
  const isLive =
    before.versions.some(({ version }) => version === task.version) &&
    before.meaning?.spaces.some(({ number }) => number === task.space) === true;
  const state: ListState = { ...before, sequence: before.sequence + 1 };
  const holding = isLive ? task.settlements.filter((each) => queue.holds(each)) : [];
  const embedded = new Map(
    holding.flatMap(({ note, next }) =>
      next.kind === 'done' && note.result.kind === 'embedded'
        ? [[note.recordNumber, encodeVectors(note.result.vectors, note.result.hash)] as const]
        : [],
    ),
  );
  const vectors = spaceStore(store, task.version, task.space);
  if (isLive) vectors.prepare();
  const index = task.index?.space === task.space && isLive ? task.index : undefined;
  const commit = index && new VectorIndexCommit({ kernel, listPath: task.listPath, vectors, view: index });
  try {
    commit?.build(embedded, [...embedded.keys()]);
    store.transaction(() => {
      queue.settle(task.settlements);
      for (const [recordNumber, bytes] of embedded) vectors.put(recordNumber, bytes);
      commit?.apply();
      store.putState(state);
    });
  } catch (error) {
    commit?.discard();
    throw store.asWriteError(error);
  }
  const { version, space } = task;
  if (commit === undefined)
    return { commit: { state, changes: [], unindexed: [{ version, space, records: [...embedded.keys()] }] } };
  const change = commit.change;
  const changes = change === undefined ? [] : [{ version, added: [], removed: [], deletions: [], vectors: change }];
  return { commit: { state, changes } };
}

export function retryEmbeddings(
  { stores }: IngestContext,
  task: RetryEmbeddingsTask,
): IngestResults['retry-embeddings'] {
  const store = stores.get(task.listPath);
  if (!hasEmbeddingQueue(store)) return { retried: 0 };
  const queue = embeddingQueue(store);
  let retried = 0;
  for (let after: number | undefined = 0; after !== undefined;) {
    const behind: number = after;
    const { nowMs, lane } = task;
    const some = store.transaction(() => queue.replaySome(lane, { behind, matches: () => true, nowMs }));
    retried += some.replayed;
    after = some.after;
  }
  return { retried };
}

export function withSpace(before: ListState, space: VectorSpace): ListState {
  const { nextSpace, spaces } = before.meaning ?? NO_SPACES;
  const meaning = { nextSpace, spaces: spaces.map((each) => (each.number === space.number ? space : each)) };
  return { ...before, sequence: before.sequence + 1, meaning };
}
