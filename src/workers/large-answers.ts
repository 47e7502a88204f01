/**
 * Answers that are longer than a worker builds without asking. Such a search is given up half-way and run again when there is room for
 * the longest answer: one is built at a time, and each is answered or refused by itself, whatever it was in a batch with.
 * Main thread only.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { Cancellation, RequestMemory, Reservation } from '../platform/index.js';
import type { SearchAnswer } from '../search/index.js';
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

/** A way to nowhere: what moves there is freed at once, and not when the heap is next collected. */
const nowhere = closedPort();

function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}

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

  const all: Search = (task, signal) => search(task, signal).catch((error: unknown) => again(task, signal, error));
  return all;
}

/** A long answer's memory is given back with its room. */
function freeing({ body, isAlone }: SearchAnswer, room: Reservation): Reservation {
  const { buffer } = body;
  const release = (): void => {
    if (isAlone === true && buffer.byteLength > 0) nowhere.postMessage(null, [buffer as ArrayBuffer]);
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
