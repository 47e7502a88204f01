/**
 * Answers that are longer than a worker builds without asking. Such a search is given up half-way and run again when there is room for
 * the longest answer: one is built at a time, and each is answered or refused by itself, whatever it was in a batch with.
 * Main thread only.
 */
import { SENT_AT_ONCE_BYTES, type Cancellation, type RequestMemory, type Reservation } from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
import { freeBuffer } from './free-buffer.js';
import type { SearchPoolTask } from './search-messages.js';
import type { Postponement } from '../platform/hosts/reply.js';

/** A search that its worker did not finish; nothing is wrong with it. */
export class PostponedAnswer extends Error {
  override readonly name = 'PostponedAnswer';
  constructor(readonly why: Postponement) {
    super(`the answer was put off: ${why}`);
  }
}

export type Search = (task: SearchPoolTask, signal: Cancellation) => Promise<SearchAnswer>;

/** Does what `search` does, and again where the answer was put off. */
export function withRoomForAnswers(search: Search, memory: RequestMemory): Search {
  async function again(task: SearchPoolTask, signal: Cancellation, error: unknown): Promise<SearchAnswer> {
    if (!(error instanceof PostponedAnswer)) throw error;
    if (error.why === 'long') return searchLong(task, signal);
    return all(task, signal);
  }

  async function searchLong(task: SearchPoolTask, signal: Cancellation): Promise<SearchAnswer> {
    const { answers, answerBytesMax } = memory;
    const room = answers.reserve(answerBytesMax);
    try {
      await room.ready;
      if (signal.aborted) throw signal.reason;
      const answer = await search({ ...task, answerBytesMax }, signal);
      room.shrinkTo(answer.body.byteLength);
      return { ...answer, room: freeing(answer, room) };
    } catch (error) {
      room.release();
      throw error;
    }
  }

  /** An answer that its client may take slowly is refused where there is no room for it. */
  function admitted(answer: SearchAnswer): SearchAnswer {
    const bytes = answer.body.byteLength;
    if (bytes <= SENT_AT_ONCE_BYTES || answer.room !== undefined) return answer;
    const room = memory.answers.tryReserve(bytes);
    if (room !== undefined) return { ...answer, room: freeing(answer, room) };
    free(answer);
    throw memory.answers.refusal();
  }

  const all: Search = (task, signal) =>
    search(task, signal).then(admitted, (error: unknown) => again(task, signal, error));
  return all;
}

/** A long answer's memory is given back with its room. */
function freeing(answer: SearchAnswer, room: Reservation): Reservation {
  const release = (): void => {
    free(answer);
    room.release();
  };
  return {
    ready: undefined,
    release,
    shrinkTo: (bytes) => {
      room.shrinkTo(bytes);
    },
  };
}

function free({ body, isAlone }: SearchAnswer): void {
  if (isAlone === true && body.buffer.byteLength > 0) freeBuffer(body.buffer as ArrayBuffer);
}
