/**
 * Embeds batches of records of one version with one model: cuts their texts into passages and turns these into vectors.
 * Main thread only.
 */
import { unlessEnded } from '../../platform/index.js';
import type { LaneWorker, WorkOutcome } from '../../platform/work/index.js';
import {
  ModelError,
  VECTORS_PER_RECORD_MAX,
  type Embedder,
  type EmbeddingResult,
  type EmbeddingTypes,
  type TextToEmbed,
} from '../../vectors/index.js';
import type { TextOfRecord } from '../contract/ingest-tasks.js';

/** Maximum number of records in a batch, which is what the death of the process may cost. */
const BATCH_RECORDS_MAX = 256;

export interface EmbeddingWorkerOptions {
  readonly model: string;
  readonly embedder: Embedder;
  readonly render: (recordNumbers: readonly number[]) => Promise<readonly TextOfRecord[]>;
  /** Called with the error of the latest attempt; undefined if it succeeded. */
  readonly onOutcome: (error: string | undefined) => void;
}

type Outcome = WorkOutcome<EmbeddingResult>;

export interface BuiltInWorkerOptions extends Pick<EmbeddingWorkerOptions, 'model' | 'onOutcome'> {
  /** Resolves to undefined if the model is missing. */
  readonly embed: (recordNumbers: readonly number[]) => Promise<readonly Outcome[] | undefined>;
  readonly onMissing: () => void;
}

interface Passages {
  readonly hash: Uint8Array;
  readonly texts: readonly string[];
}

export function embeddingWorker(options: EmbeddingWorkerOptions): LaneWorker<EmbeddingTypes> {
  return workerOf(options, {
    batchMax: options.embedder.batchTexts,
    embed: (recordNumbers, abort) => embedRecords(options, recordNumbers, abort),
  });
}

/** Worker for the model that was learned from the list. It is held by the ingest thread, so only vectors come back. */
export function builtInWorker(options: BuiltInWorkerOptions): LaneWorker<EmbeddingTypes> {
  return workerOf(options, {
    batchMax: BATCH_RECORDS_MAX,
    embed: async (recordNumbers) => {
      try {
        const outcomes = await options.embed(recordNumbers);
        if (outcomes !== undefined) return outcomes;
        options.onMissing();
        const detail = 'The model is missing or damaged; it is learned anew.';
        throw new ModelError(detail, { retry: 'later', reason: 'missing' });
      } catch (error) {
        return recordNumbers.map(() => outcomeOf(error));
      }
    },
  });
}

interface Embedding {
  readonly batchMax: number;
  /** Returns one outcome per record. Never rejects. */
  readonly embed: (recordNumbers: readonly number[], abort: AbortSignal) => Promise<readonly Outcome[]>;
}

function workerOf(
  { model, onOutcome }: Pick<EmbeddingWorkerOptions, 'model' | 'onOutcome'>,
  { batchMax, embed }: Embedding,
): LaneWorker<EmbeddingTypes> {
  return {
    receiver: model,
    batchMax: Math.min(BATCH_RECORDS_MAX, Math.max(1, batchMax)),
    perform: async (work, abort) => {
      const recordNumbers = work.map(({ item }) => item);
      // A model that ignores the signal delays nobody.
      const outcomes = (await unlessEnded(abort, embed(recordNumbers, abort))) ?? stopped(work.length);
      if (abort.aborted) return outcomes;
      const wrong = outcomes.find(({ verdict }) => verdict === 'failed' || verdict === 'unavailable')?.result;
      onOutcome(wrong?.kind === 'failure' ? wrong.detail : undefined);
      return outcomes;
    },
    note: ({ work: { item }, result }) => ({ recordNumber: item, result }),
    failure: ({ work: { item }, result, attempt }, atMs) => {
      const { reason, detail } = result.kind === 'failure' ? result : { reason: 'unknown', detail: '' };
      return { recordNumber: item, reason, detail, attempts: attempt, atMs };
    },
  };
}

/** Outcomes that have no effect, because the list is closed. */
function stopped(count: number): readonly Outcome[] {
  const result = { kind: 'failure', reason: 'stopped', detail: 'The list is closed.' } as const;
  return Array.from({ length: count }, () => ({ verdict: 'unavailable', result }));
}

/** Returns one outcome per record. Never rejects. */
async function embedRecords(
  { embedder, render }: EmbeddingWorkerOptions,
  recordNumbers: readonly number[],
  abort: AbortSignal,
): Promise<readonly Outcome[]> {
  try {
    const records = await render(recordNumbers);
    const withText = records.filter((record) => record.text !== undefined);
    const passages = await embedder.passages(
      withText.map(({ text }) => text as TextToEmbed),
      abort,
    );
    const texts = new Map(withText.map(({ recordNumber }, position) => [recordNumber, passages[position] ?? []]));
    const outcomes: Outcome[] = records.map((record) => withoutVectors(record, texts.get(record.recordNumber)));
    const open = records.flatMap(({ recordNumber, hash }, position) => {
      const cut = texts.get(recordNumber);
      return hash === undefined || cut === undefined || outcomes[position]?.verdict === 'refused'
        ? []
        : [{ position, passages: { hash, texts: cut } }];
    });
    const embedded = await embedEach(
      embedder,
      open.map((each) => each.passages),
      abort,
    );
    for (const [index, { position }] of open.entries()) outcomes[position] = embedded[index] as Outcome;
    return outcomes;
  } catch (error) {
    const outcome = outcomeOf(error);
    return recordNumbers.map(() => outcome);
  }
}

/**
 * Outcome of a record that is not embedded: it is gone, has no text, or has more passages than a record can have
 * vectors.
 */
function withoutVectors({ isGone }: TextOfRecord, passages: readonly string[] | undefined): Outcome {
  if (isGone) return { verdict: 'done', result: { kind: 'nothing' } };
  if (passages === undefined || passages.length === 0) return refused('no-text', 'The record has no text.');
  if (passages.length <= VECTORS_PER_RECORD_MAX) return { verdict: 'done', result: { kind: 'nothing' } };
  const detail = `The text has more than ${VECTORS_PER_RECORD_MAX} passages, and a record has a vector for each of so many at most.`;
  return refused('too-long', detail);
}

function refused(reason: string, detail: string): Outcome {
  return { verdict: 'refused', result: { kind: 'failure', reason, detail } };
}

/**
 * Embeds the passages of the records. If the model refuses some of the texts, retries halves until it is known which.
 */
async function embedEach(
  embedder: Embedder,
  records: readonly Passages[],
  abort: AbortSignal,
): Promise<readonly Outcome[]> {
  if (records.length === 0) return [];
  try {
    const texts = records.flatMap((record) => record.texts);
    const vectors: Float32Array[] = [];
    for (let begin = 0; begin < texts.length; begin += embedder.batchTexts) {
      const batch = texts.slice(begin, begin + embedder.batchTexts);
      const answer = await embedder.embed(batch, 'document', abort);
      if (answer.length !== batch.length) {
        const detail = `The model answered ${answer.length} vectors for ${batch.length} texts.`;
        throw new ModelError(detail, { retry: 'never', reason: 'wrong-count' });
      }
      vectors.push(...answer);
    }
    let begin = 0;
    return records.map((record) =>
      checked(embedder, record.hash, vectors.slice(begin, (begin += record.texts.length))),
    );
  } catch (error) {
    const isRefused = error instanceof ModelError && error.retry === 'never';
    if (!isRefused || records.length === 1) return records.map(() => outcomeOf(error));
    const half = Math.ceil(records.length / 2);
    const first = await embedEach(embedder, records.slice(0, half), abort);
    return [...first, ...(await embedEach(embedder, records.slice(half), abort))];
  }
}

function checked(embedder: Embedder, hash: Uint8Array, vectors: readonly Float32Array[]): Outcome {
  for (const vector of vectors) {
    if (vector.length !== embedder.dimensions) {
      const detail = `The model answered a vector of ${vector.length} numbers, and has ${embedder.dimensions}.`;
      return refused('wrong-dimensions', detail);
    }
    let square = 0;
    for (const value of vector) square += value * value;
    if (!Number.isFinite(square) || square === 0) {
      return refused('no-direction', 'The model answered a vector of zeros, or with what is no number.');
    }
  }
  return { verdict: 'done', result: { kind: 'embedded', hash, vectors } };
}

function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof ModelError)) {
    return {
      verdict: 'failed',
      result: { kind: 'failure', reason: 'error', detail: error instanceof Error ? error.message : String(error) },
    };
  }
  const result = { kind: 'failure', reason: error.reason, detail: error.message } as const;
  if (error.retry === 'never') return { verdict: 'refused', result };
  const { retryAfterMs } = error;
  const notBefore = retryAfterMs === undefined ? {} : { notBeforeMs: Date.now() + retryAfterMs };
  return { verdict: 'unavailable', result, ...notBefore };
}
