/**
 * Queues of the work on linked files, in the list's own store:
 *
 * - files to be read, in one of a few lanes by host, so that a host that does not answer delays few others. Each file
 *   has an item as long as a record links to it: after it was read, the item of the next look at it.
 * - records whose pages are to be indexed, in a lane for each version.
 */
import { createHash } from 'node:crypto';
import { WorkQueue, type WorkKind, type WorkTypes } from '../platform/work/index.js';
import { versionSuffix, type ListStore } from '../store/index.js';
import { keyOfFile } from './extract-row.js';
import type { ReadingOutcome, ReadKind } from './file-reader.js';

/**
 * Fraction of the time to the next look at a file that is added at random, so that files that were read together are
 * not requested together.
 */
export const CHECK_JITTER = 0.1;

export interface ReadingItem {
  readonly url: string;
  /** Absent for a document. */
  readonly kind?: ReadKind;
  /** True if the file is read whatever is known of it. */
  readonly forced: boolean;
  /** Set if the file is to be transcribed. */
  readonly transcribe?: true;
  /** Number of times that the host asked for more time. */
  readonly postponed: number;
}

export interface ReadingTypes {
  readonly item: ReadingItem;
  readonly result: ReadingOutcome;
  readonly note: { readonly item: ReadingItem; readonly result: ReadingOutcome };
  /** Nothing is set aside: failures are looked at again. */
  readonly failure: null;
}

export interface AttachTypes {
  /** Record number. */
  readonly item: number;
  readonly result: null;
  readonly note: null;
  readonly failure: null;
}

const HOST_LANES = 16;
/** Lane of videos whose frames are read; that takes long, so nothing else waits in it. */
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

/**
 * Lane of recordings that wait for the list's transcription model, so that nothing else waits if it does not answer.
 */
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

/** Must not be called for the first time inside a transaction: opening databases is a transaction of its own. */
export const readingQueue = openedQueue(READING);
/** As `readingQueue`. */
export const attachQueue = openedQueue(ATTACHING);
