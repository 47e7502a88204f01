/**
 * The answers of a batch in one buffer, which is transferred between threads without being copied or serialised:
 *
 *   the bodies of all answers, one after the other; for a search that failed, its WorkerFailure as JSON
 *   padding
 *   at the end, per task, in order: f64 end offset of its body, f64 total count (FAILED: it failed; less: why it is
 *   unfinished), f64 milliseconds in the worker
 *
 * Numbers are in the byte order of the machine, since both ends are threads of it.
 */
import type { ResponseWriter, SearchAnswer } from '../search/index.js';
import type { WorkerFailure, WorkerReply } from '../platform/hosts/reply.js';
import { freeBuffer } from './free-buffer.js';

/**
 * Why a search ended early: its client left, its deadline passed, its slice was used up, or the batch's slice ended
 * before it began.
 */
export type Unfinished = 'stopped' | 'deadline' | 'slice' | 'unbegun';

export type SearchReply = WorkerReply<SearchAnswer> | { readonly ok: false; readonly unfinished: Unfinished };

/** Largest buffer shared by several answers, one of which may keep it for a slow reader. */
const SHARED_BYTES_MAX = 512 * 1024;

const FAILED = -1;
const UNFINISHED: readonly Unfinished[] = ['stopped', 'deadline', 'slice', 'unbegun'];
/** Code of `stopped`; the others follow in decreasing order. */
const UNFINISHED_FIRST = -2;
const NUMBERS_PER_TASK = 3;

/** Gathers the answers of one batch, whose bodies are written to `writer`. */
export class BatchAnswerWriter {
  private readonly numbers: Float64Array<ArrayBuffer>;
  private count = 0;

  /** The writer must be empty. */
  constructor(
    private readonly writer: ResponseWriter,
    tasks: number,
  ) {
    this.numbers = new Float64Array(tasks * NUMBERS_PER_TASK);
  }

  /** Completes the next task: its body is what was written since the previous one. */
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

  /** Returns the buffer, to be transferred; the writer is empty afterwards. */
  take(): ArrayBuffer {
    return this.writer.take(this.numbers);
  }
}

/**
 * Returns one reply per task. Bodies are views of the buffer. If it is large and shared by several tasks, they are
 * copies instead, so that none keeps the memory of the others, and the buffer is empty afterwards.
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
