/**
 * What is still to be done about linked files, kept in the list's own store:
 *
 * - to read a file, in one of a few lanes by its host, so that one that does not answer keeps few others waiting. Each file has an item
 *   for as long as a record links to it: after it was read, that of the next look at it.
 * - to put the pages of a record's files into the index, in a lane for each version.
 */
import { createHash } from 'node:crypto';
import { WorkQueue, type WorkKind, type WorkTypes } from '../platform/work/index.js';
import { versionSuffix, type ListStore } from '../store/index.js';
import { keyOfFile } from './extract-row.js';
import type { ReadingOutcome, ReadKind } from './file-reader.js';

/** Of the time to the next look at a file, added at random: what was read together is not asked for together. */
export const CHECK_JITTER = 0.1;

export interface ReadingItem {
  readonly url: string;
  /** Absent: a document. */
  readonly kind?: ReadKind;
  /** It is read whatever is known of it. */
  readonly forced: boolean;
  /** What is said in it is to be written down. */
  readonly transcribe?: true;
  /** How often its host asked for more time. */
  readonly postponed: number;
}

export interface ReadingTypes {
  readonly item: ReadingItem;
  readonly result: ReadingOutcome;
  readonly note: { readonly item: ReadingItem; readonly result: ReadingOutcome };
  /** Nothing is set aside: what fails is looked at again. */
  readonly failure: null;
}

export interface AttachTypes {
  /** Number of the record. */
  readonly item: number;
  readonly result: null;
  readonly note: null;
  readonly failure: null;
}

const HOST_LANES = 16;
/** Of videos whose frames are read, which takes long: nobody else waits for it. */
const FRAMES_LANE = 'frames';
export const READING_LANES: readonly string[] = [
  ...Array.from({ length: HOST_LANES }, (_, lane) => `host-${lane}`),
  FRAMES_LANE,
];

export function readingLane({ kind, url }: Pick<ReadingItem, 'kind' | 'url'>): string {
  if (kind === 'frames') return FRAMES_LANE;
  const host = URL.canParse(url) ? new URL(url).host : '';
  const lane = (createHash('sha256').update(host).digest()[0] ?? 0) % HOST_LANES;
  return READING_LANES[lane] ?? '';
}

/** Of recordings that wait for a model, which is one for the list: where it does not answer, nobody else waits. */
export const TRANSCRIPTS_LANE = 'transcripts';

export function attachLane(version: number): string {
  return versionSuffix(version);
}

export function subjectOfRecordPages(recordNumber: number): string {
  return String(recordNumber);
}

function databasesOf(prefix: string) {
  const named = (name: string) => `${prefix}-${name}`;
  return {
    databases: {
      items: named('items'),
      schedule: named('schedule'),
      setAside: named('set-aside'),
      meta: named('meta'),
    },
    keeping: {
      kind: 'newest',
      databases: { subjects: named('subjects'), counts: named('counts') },
      reasonOf: () => 'failed',
    },
  } as const;
}

const READING: WorkKind<ReadingTypes> = {
  ...databasesOf('reading'),
  encode: (item) => item,
  decode: (stored) => stored as ReadingItem,
  subjectOf: ({ url, kind = 'document' }) => keyOfFile({ kind, url }),
};

const ATTACHING: WorkKind<AttachTypes> = {
  ...databasesOf('attach'),
  encode: (recordNumber) => recordNumber,
  decode: (stored) => stored as number,
  subjectOf: subjectOfRecordPages,
};

export type ReadingQueue = WorkQueue<ReadingTypes>;
export type AttachQueue = WorkQueue<AttachTypes>;

function openedQueue<T extends WorkTypes>(kind: WorkKind<T>): (store: ListStore) => WorkQueue<T> {
  const opened = new WeakMap<ListStore, WorkQueue<T>>();
  return (store) => {
    let queue = opened.get(store);
    if (queue === undefined) opened.set(store, (queue = new WorkQueue(store.environment, kind)));
    return queue;
  };
}

/** Not for the first time inside a transaction: opening databases is one of its own. */
export const readingQueue = openedQueue(READING);
/** The same. */
export const attachQueue = openedQueue(ATTACHING);
