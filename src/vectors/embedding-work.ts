/** What is still to be embedded, kept in the list's own store: the newest state of each record, in a lane for each version and space. */
import type { RecordStore } from '../records/index.js';
import { versionSuffix } from '../store/index.js';
import { WorkQueue, type WorkKind } from '../platform/work/index.js';

/** The vectors of a record, or the reason why it has none. */
export type EmbeddingResult =
  | { readonly kind: 'embedded'; readonly hash: Uint8Array; readonly vectors: readonly Float32Array[] }
  /** There is nothing of the record any more, or nothing new. */
  | { readonly kind: 'nothing' }
  | { readonly kind: 'failure'; readonly reason: string; readonly detail: string };

export interface EmbeddingFailure {
  readonly recordNumber: number;
  readonly reason: string;
  readonly detail: string;
  readonly attempts: number;
  readonly atMs: number;
}

export interface EmbeddingNote {
  readonly recordNumber: number;
  readonly result: EmbeddingResult;
}

export interface EmbeddingTypes {
  /** Number of the record. */
  readonly item: number;
  readonly result: EmbeddingResult;
  readonly note: EmbeddingNote;
  readonly failure: EmbeddingFailure;
}

const DATABASES = { items: 'embed-items', schedule: 'embed-schedule', setAside: 'embed-set-aside', meta: 'embed-meta' };

export const EMBEDDING: WorkKind<EmbeddingTypes> = {
  databases: DATABASES,
  keeping: {
    kind: 'newest',
    databases: { subjects: 'embed-subjects', counts: 'embed-counts' },
    reasonOf: ({ reason }) => reason,
  },
  encode: (recordNumber) => recordNumber,
  decode: (stored) => stored as number,
  subjectOf: subjectOfRecord,
};

export type EmbeddingQueue = WorkQueue<EmbeddingTypes>;

export function subjectOfRecord(recordNumber: number): string {
  return String(recordNumber);
}

/** What is to be embedded of a version by the model of a space. */
export function embeddingLane(version: number, space: number): string {
  return versionSuffix(version, space);
}

/** False where nothing was ever to be embedded: then nothing is opened to look. */
export function hasEmbeddingQueue(store: RecordStore): boolean {
  return store.hasDatabase(DATABASES.items);
}

const opened = new WeakMap<RecordStore, EmbeddingQueue>();

/** Not for the first time inside a transaction: opening databases is one of its own. */
export function embeddingQueue(store: RecordStore): EmbeddingQueue {
  let queue = opened.get(store);
  if (queue === undefined) opened.set(store, (queue = new WorkQueue(store.environment, EMBEDDING)));
  return queue;
}
