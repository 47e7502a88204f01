/**
 * Ingest tasks of a list's built-in model: learning it from the records, embedding records with it, removing an earlier
 * one.
 */
import { rmSync } from 'node:fs';
import type { Kernel } from '../../../native-bindings/index.js';
import { segmentForKernel } from '../../../native-bindings/segmentation.js';
import type { WorkOutcome } from '../../platform/work/index.js';
import { decodeRecord, parseFields, type RecordStore } from '../../records/index.js';
import { vectorSegmentFile, type ListState } from '../../store/index.js';
import {
  BuiltInModels,
  embeddingLane,
  embeddingQueue,
  hasEmbeddingQueue,
  learnModel as learnedModel,
  spaceStore,
  TermMatrixBuilder,
  textOfRecord,
  type EmbeddingResult,
  type MatrixLimits,
  type TextModel,
  type TextToEmbed,
} from '../../vectors/index.js';
import { requiredState, requiredVersion, type IngestContext } from '../contract/ingest-context.js';
import type {
  EmbedRecordsTask,
  ForgetSpaceTask,
  IngestResults,
  LearnModelTask,
  TextOfRecord,
} from '../contract/ingest-tasks.js';
import { renderTexts } from './meaning-handlers.js';

/**
 * Maximum number of records, evenly spaced, from which the model is learned. More hardly change the model, and take
 * time.
 */
const RECORDS_MAX = 20_000;
/** The beginning of a long text is enough to tell what the record is about. */
const TEXT_CHARACTERS_MAX = 20_000;

/**
 * Returns limits that keep the matrix within `bytesMax`: each column has two rows of 128 numbers, and each counted word
 * its text.
 */
function limitsOf(bytesMax: number): MatrixLimits {
  const limit = (most: number, bytesEach: number) => Math.max(1, Math.min(most, Math.floor(bytesMax / 3 / bytesEach)));
  return { termsMax: limit(32_768, 1200), countedTermsMax: limit(262_144, 150), entriesMax: limit(3_000_000, 20) };
}

export function learnModel({ kernel, stores }: IngestContext, task: LearnModelTask): IngestResults['learn-model'] {
  const store = stores.get(task.listPath);
  const state = requiredState(store);
  // The version was current when the task was created; meanwhile another one may be, and this one may have been
  // dropped.
  const isThere = state.versions.some((candidate) => candidate.version === task.version);
  const { definition, version } = requiredVersion(state, isThere ? task.version : state.currentVersion);
  const records = store.version(version);
  const step = Math.max(1, Math.ceil(records.recordCount() / RECORDS_MAX));
  const matrix = new TermMatrixBuilder(limitsOf(task.bytesMax));
  let place = 0;
  for (const { value } of records.range()) {
    if (place++ % step !== 0) continue;
    const stored = decodeRecord(value);
    const text = textOfRecord(definition, stored, parseFields(stored.fieldsJson));
    if (text !== undefined) matrix.add(termsOf(kernel, text, task.language));
    if (matrix.isFull) break;
  }
  return learnedModel(matrix.finish(), task.language);
}

function termsOf(kernel: Kernel, { title, text }: TextToEmbed, language: string): readonly string[] {
  return kernel.stems(segmentForKernel(`${title}\n${text}`.slice(0, TEXT_CHARACTERS_MAX)), language);
}

export function embedRecords(context: IngestContext, task: EmbedRecordsTask): IngestResults['embed-records'] {
  const store = context.stores.get(task.listPath);
  const space = requiredState(store).meaning?.spaces.find(({ number }) => number === task.space);
  const model = space && modelOf(store, space.modelVersion);
  if (model === undefined) return undefined;
  const rendered = renderTexts(context, { ...task, kind: 'render-texts' });
  return rendered.map((record) => embedded(context.kernel, model, record));
}

function modelOf(store: RecordStore, modelVersion: string): TextModel | undefined {
  return BuiltInModels.areIn(store) ? BuiltInModels.of(store).get(modelVersion) : undefined;
}

function embedded(
  kernel: Kernel,
  model: TextModel,
  { text, hash, isGone }: TextOfRecord,
): WorkOutcome<EmbeddingResult> {
  if (isGone) return { verdict: 'done', result: { kind: 'nothing' } };
  if (text === undefined || hash === undefined) return refused('no-text', 'The record has no text.');
  const vector = model.vectorOf(termsOf(kernel, text, model.language));
  if (vector === undefined) {
    return refused('unknown-words', 'The list had no other record with a word of this one when the model was learned.');
  }
  return { verdict: 'done', result: { kind: 'embedded', hash, vectors: [vector] } };
}

function refused(reason: string, detail: string): WorkOutcome<EmbeddingResult> {
  return { verdict: 'refused', result: { kind: 'failure', reason, detail } };
}

/**
 * Removes a space. Its databases are emptied rather than dropped, because another thread may still be reading them;
 * those of spaces that were removed earlier are dropped.
 */
export function forgetSpace({ stores }: IngestContext, task: ForgetSpaceTask): IngestResults['forget-space'] {
  const store = stores.get(task.listPath);
  const before = requiredState(store);
  const { meaning } = before;
  const space = meaning?.spaces.find(({ number }) => number === task.space);
  if (meaning === undefined || space === undefined) return before;
  if (space.state !== 'resting') throw new Error(`the space ${task.space} is in use`);
  const models = BuiltInModels.of(store);
  const emptied = before.versions
    .map(({ version }) => spaceStore(store, version, task.space))
    .filter(({ exists }) => exists)
    .map((vectors) => vectors.prepare());
  const files = emptied.flatMap((vectors) => vectors.segments().map(({ id }) => vectorSegmentFile(task.listPath, id)));
  const spaces = meaning.spaces.filter((each) => each !== space);
  const isShared = spaces.some(({ modelVersion }) => modelVersion === space.modelVersion);
  const state: ListState = { ...before, sequence: before.sequence + 1, meaning: { ...meaning, spaces } };
  forgetQueued(store, before, task.space);
  store.transaction(() => {
    for (const vectors of emptied) vectors.clear();
    if (!isShared) models.remove(space.modelVersion);
    store.putState(state);
  });
  for (const file of files) rmSync(file, { force: true });
  removeForgotten(store, state, task.space);
  return state;
}

function forgetQueued(store: RecordStore, { versions }: ListState, space: number): void {
  if (!hasEmbeddingQueue(store)) return;
  const queue = embeddingQueue(store);
  for (const { version } of versions) {
    while (store.transaction(() => queue.forgetSome(embeddingLane(version, space))) > 0);
  }
}

function removeForgotten(store: RecordStore, { meaning, versions }: ListState, last: number): void {
  const known = new Set(meaning?.spaces.map(({ number }) => number));
  for (let number = 1; number < last; ++number) {
    if (known.has(number)) continue;
    for (const { version } of versions) {
      const vectors = spaceStore(store, version, number);
      if (vectors.exists) vectors.drop();
    }
  }
}
