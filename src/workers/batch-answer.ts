/**
 * The answers of a batch in one buffer, which moves between threads without being copied or walked through:
 *
 *   the bodies of all answers, one after the other; of a search that failed, its WorkerFailure as JSON
 *   bytes of no meaning
 *   at the end, per task, in their order: f64 offset behind its body, f64 total count (FAILED: it failed; less: why it is not
 *   finished), f64 milliseconds in the worker
 *
 * Numbers are in the order of the machine: both ends are threads of it.
 */
import type { ResponseWriter, SearchAnswer } from '../search/index.js';
import type { WorkerFailure, WorkerReply } from '../platform/hosts/reply.js';
import { freeBuffer } from './free-buffer.js';

/** Why a search ended before it was done: its client left, its time was over, it takes too long beside others, or those before it did. */
export type Unfinished = 'stopped' | 'deadline' | 'slice' | 'unbegun';

export type SearchReply = WorkerReply<SearchAnswer> | { readonly ok: false; readonly unfinished: Unfinished };

/** A buffer that several answers share, one of which may be kept for a slow reader. */
const SHARED_BYTES_MAX = 512 * 1024;

const FAILED = -1;
const UNFINISHED: readonly Unfinished[] = ['stopped', 'deadline', 'slice', 'unbegun'];
/** `stopped`; the others are less by one each. */
const UNFINISHED_FIRST = -2;
const NUMBERS_PER_TASK = 3;

/** Gathers the answers of one batch, whose bodies are written to `writer`. */
export class BatchAnswerWriter {
  private readonly numbers: Float64Array<ArrayBuffer>;
  private count = 0;

  /** The writer has to be empty. */
  constructor(
    private readonly writer: ResponseWriter,
    tasks: number,
  ) {
    this.numbers = new Float64Array(tasks * NUMBERS_PER_TASK);
  }

  /** The next task's body is what was written since the last one's. */
  answered(totalCount: number, workerMs: number): void {
    const at = this.count * NUMBERS_PER_TASK;
    this.numbers[at] = this.writer.length;
    this.numbers[at + 1] = totalCount;
    this.numbers[at + 2] = workerMs;
    this.count += 1;
  }

  failed(failure: WorkerFailure): void {
    this.writer.limitTo(Infinity);
    this.writer.text(JSON.stringify(failure));
    this.answered(FAILED, 0);
  }

  unfinished(why: Unfinished): void {
    this.answered(UNFINISHED_FIRST - UNFINISHED.indexOf(why), 0);
  }

  /** To be transferred; the writer is empty after. */
  take(): ArrayBuffer {
    return this.writer.take(this.numbers);
  }
}

/**
 * One reply a task. Bodies are views of the buffer; where it is large and they are several each is a copy, so that none keeps the
 * memory of the others, and the buffer is empty after.
 */
export function readBatchAnswer(buffer: ArrayBuffer, tasks: number): SearchReply[] {
  const replies = readReplies(buffer, tasks);
  if (tasks === 1 || buffer.byteLength <= SHARED_BYTES_MAX) return replies;
  const apart = replies.map((reply): SearchReply => {
    if (!reply.ok) return reply;
    return { ok: true, value: { ...reply.value, body: reply.value.body.slice(), isAlone: true } };
  });
  freeBuffer(buffer);
  return apart;
}

function readReplies(buffer: ArrayBuffer, tasks: number): SearchReply[] {
  const numbersBegin = buffer.byteLength - tasks * NUMBERS_PER_TASK * Float64Array.BYTES_PER_ELEMENT;
  if (numbersBegin < 0) throw new Error('a search worker answered fewer searches than it was asked');
  const numbers = new Float64Array(buffer, numbersBegin);
  let begin = 0;
  return Array.from({ length: tasks }, (_, index): SearchReply => {
    const at = index * NUMBERS_PER_TASK;
    const bytes = (numbers[at] as number) - begin;
    const totalCount = numbers[at + 1] as number;
    const body = new Uint8Array(buffer, begin, bytes);
    begin += bytes;
    const unfinished = UNFINISHED[UNFINISHED_FIRST - totalCount];
    if (unfinished !== undefined) return { ok: false, unfinished };
    if (totalCount !== FAILED) {
      return { ok: true, value: { body, totalCount, workerMs: numbers[at + 2] as number, isAlone: tasks === 1 } };
    }
    return JSON.parse(Buffer.from(buffer, body.byteOffset, bytes).toString()) as WorkerFailure;
  });
}
