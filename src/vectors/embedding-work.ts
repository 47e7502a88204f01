/**
 * Queue of records that are still to be embedded, in the list's own store: the latest state of each record, in a lane
 * for each version and space.
 */
import type { RecordStore } from '../records/index.js';
import { versionSuffix } from '../store/index.js';
import { WorkQueue, type WorkKind } from '../platform/work/index.js';

/** The vectors of a record, or why it has none. */
export type EmbeddingResult =
  | { readonly kind: 'embedded'; readonly hash: Uint8Array; readonly vectors: readonly Float32Array[] }
  /** The record is gone, or unchanged. */
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
  /** Record number. */
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

/** Returns the lane of a version and the model of a space. */
export function embeddingLane(version: number, space: number): string {
  return versionSuffix(version, space);
}

/** False if nothing was ever to be embedded; no database is opened to find out. */
export function hasEmbeddingQueue(store: RecordStore): boolean {
  return store.hasDatabase(DATABASES.items);
}

const opened = new WeakMap<RecordStore, EmbeddingQueue>();

/** Must not be called for the first time inside a transaction: opening databases is a transaction of its own. */
export function embeddingQueue(store: RecordStore): EmbeddingQueue {
  let queue = opened.get(store);
  if (queue === undefined) opened.set(store, (queue = new WorkQueue(store.environment, EMBEDDING)));
  return queue;
}
