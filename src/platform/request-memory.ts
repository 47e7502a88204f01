/**
 * Memory that requests hold besides their processing: bodies, uploads that are not consumed yet, and answers that are
 * being built or that clients have not read yet. The shares are those of memory-budget.ts. Main thread only.
 */
import { ByteBudget } from './byte-budget.js';
import { UPLOAD_BYTES, type MemoryBudget } from './memory-budget.js';

/** A body of at most this size does not wait for large ones. */
const SMALL_BODY_BYTES = 64 * 1024;
/**
 * Limit of waiting requests. Each holds what arrived with its head: a small body completely, one chunk of a large one.
 */
const WAITING_MAX = 64;
const WAIT_MS = 10_000;

/**
 * Characters or bytes of an answer that are written at once, whatever the connection accepts. The rest is copied by the
 * web server, and no room is reserved for it.
 */
export const SENT_AT_ONCE_BYTES = 64 * 1024;

/**
 * A search worker builds answers of up to this size without asking; a longer one only if there is room for the longest.
 */
export const ORDINARY_ANSWER_BYTES = 4 * 2 ** 20;

export interface RequestMemory {
  /** Held until the request is answered, since what was parsed, and waits for the disk, is as large as the body. */
  readonly bodies: ByteBudget;
  /** Held by bulk uploads, `UPLOAD_BYTES` each. */
  readonly uploads: ByteBudget;
  /** Bytes that uploads sharing a window may hold together. */
  readonly uploadWindowBytes: number;
  /** Called when an upload no longer holds memory. */
  readonly letGo: () => void;
  /** Held until the client has read the answer. */
  readonly answers: ByteBudget;
  /** Limit of one answer. */
  readonly answerBytesMax: number;
}

/** Creates the budgets. `waitMs`: how long a request waits for room. */
export function createRequestMemory(
  budget: MemoryBudget,
  { waitMs = WAIT_MS, letGo = () => {} }: { readonly waitMs?: number; readonly letGo?: () => void } = {},
): RequestMemory {
  const waiting = { waitingMax: WAITING_MAX, waitMs };
  return {
    bodies: new ByteBudget({
      ...budget.bodies,
      ...waiting,
      smallBytesMax: SMALL_BODY_BYTES,
      full: 'Bodies of other requests take all the memory that there is for them',
    }),
    uploads: new ByteBudget({
      ...waiting,
      bytesMax: budget.uploadBytesMax,
      keptForSmallBytes: 0,
      smallBytesMax: UPLOAD_BYTES,
      full: 'Other bulk uploads take all the memory that there is for them',
    }),
    uploadWindowBytes: Math.floor(budget.uploadBytesMax / 2),
    letGo,
    answers: new ByteBudget({
      ...budget.answers,
      ...waiting,
      smallBytesMax: ORDINARY_ANSWER_BYTES,
      full: 'Other answers take all the memory that there is for them',
    }),
    answerBytesMax: budget.answerBytesMax,
  };
}
