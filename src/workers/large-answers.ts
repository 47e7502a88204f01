/**
 * Answers longer than a worker builds without asking. Such a search is abandoned half-way and run again when there is
 * room for the longest answer. One is built at a time, and each is answered or refused on its own, whatever it was in a
 * batch with. Main thread only.
 */
import { SENT_AT_ONCE_BYTES, type Cancellation, type RequestMemory, type Reservation } from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
import { freeBuffer } from './free-buffer.js';
import type { AskedSearch } from './pending-search.js';
import type { SearchPoolTask } from './search-messages.js';
import type { Postponement } from '../platform/hosts/reply.js';

/** Runs a search again. */
export interface Searching {
  search(task: SearchPoolTask, signal: Cancellation, account: string): Promise<SearchAnswer>;
}

export class LargeAnswers {
  constructor(private readonly memory: RequestMemory) {}

  /** Reserves room for an answer that its client may read slowly; throws `overloaded` if there is none. */
  admit(answer: SearchAnswer): SearchAnswer {
    const bytes = answer.body.byteLength;
    if (bytes <= SENT_AT_ONCE_BYTES || answer.room !== undefined) return answer;
    const room = this.memory.answers.tryReserve(bytes);
    if (room !== undefined) return { ...answer, room: freeing(answer, room) };
    free(answer);
    throw this.memory.answers.refusal();
  }

  /** Repeats a search whose answer was postponed. */
  again(asked: AskedSearch, why: Postponement, to: Searching): Promise<SearchAnswer> {
    return why === 'long' ? this.searchLong(asked, to) : to.search(asked.task, asked.signal, asked.account);
  }

  private async searchLong({ task, signal, account }: AskedSearch, to: Searching): Promise<SearchAnswer> {
    const { answers, answerBytesMax } = this.memory;
    const room = answers.reserve(answerBytesMax);
    try {
      await room.ready;
      if (signal.aborted) throw signal.reason;
      const answer = await to.search({ ...task, answerBytesMax }, signal, account);
      room.shrinkTo(answer.body.byteLength);
      return { ...answer, room: freeing(answer, room) };
    } catch (error) {
      room.release();
      throw error;
    }
  }
}

/** Returns a reservation that also frees the memory of a long answer when it is released. */
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
