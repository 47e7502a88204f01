/**
 * What requests hold of the service's memory beside what they do: their bodies, uploads that nobody has taken yet, and answers that
 * are being built or that their readers have not taken yet. The shares are those of memory-budget.ts. Main thread only.
 */
import { ByteBudget } from './byte-budget.js';
import { UPLOAD_BYTES, type MemoryBudget } from './memory-budget.js';

/** A body of so many bytes waits for no large one. */
const SMALL_BODY_BYTES = 64 * 1024;
/** A request that waits holds what arrived together with its head: a small body whole, of a large one what one read brings. */
const WAITING_MAX = 64;
const WAIT_MS = 10_000;

/**
 * Characters or bytes of an answer that go out in one write, whatever the connection takes: what it does not take is copied, and no
 * room is reserved for it.
 */
export const SENT_AT_ONCE_BYTES = 64 * 1024;

/** A search worker builds an answer of so many bytes without asking; a longer one only where there is room for the longest. */
export const ORDINARY_ANSWER_BYTES = 4 * 2 ** 20;

export interface RequestMemory {
  /** Held until the request is answered: what was read from a body, and what waits for the disk, is as large as it. */
  readonly bodies: ByteBudget;
  /** Bulk uploads, `UPLOAD_BYTES` each. */
  readonly uploads: ByteBudget;
  /** What uploads that share a window may hold together. */
  readonly uploadWindowBytes: number;
  /** An upload holds nothing any more. */
  readonly letGo: () => void;
  /** Held until the client has taken the answer. */
  readonly answers: ByteBudget;
  /** Of one answer. */
  readonly answerBytesMax: number;
}

/** `waitMs`: for how long a request waits for room. */
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
