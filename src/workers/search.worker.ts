/**
 * A search worker: gets batches of searches, and returns the bytes of their answers in one buffer. Loaded by Piscina,
 * for one batch or for all messages of a channel; all of its state belongs to this thread. Between batches it holds no
 * LMDB snapshot of any list, since a reader that stays makes a store grow.
 */
import { setImmediate } from 'node:timers';
import { workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { isKernelError, kernel } from '../../native-bindings/index.js';
import { LearnedSearchesCache } from '../analytics/learned-searches-cache.js';
import { ORDINARY_ANSWER_BYTES } from '../platform/index.js';
import { RecordStoreCache } from '../records/index.js';
import {
  foldedQuery,
  ListContexts,
  LongAnswerError,
  RecordLister,
  RelatedExecutor,
  ResponseWriter,
  SearchExecutor,
  StoreRecordReader,
  SuggestExecutor,
} from '../search/index.js';
import { BatchAnswerWriter, type Unfinished } from './batch-answer.js';
import { answerBatches } from './batch-loop.js';
import { postponed, searchFailure } from './search-failure.js';
import type {
  SearchBatch,
  SearchPoolTask,
  SearchWorkerData,
  SearchWorkerMessage,
  SearchWorkerStart,
  WorkerDeath,
} from './search-messages.js';

kernel.nameThread('gannet-search');

const stores = new RecordStoreCache();
const records = new StoreRecordReader(stores);
const contexts = new ListContexts(kernel);
const searches = new SearchExecutor(kernel, records, contexts);
const learned = new LearnedSearchesCache((workerData as SearchWorkerData).analyticsFolder, (text) =>
  foldedQuery(kernel, text),
);
const earlierSearchesOf = (listId: string) => learned.of(listId);
const suggestions = new SuggestExecutor(kernel, contexts, stores, earlierSearchesOf);
const related = new RelatedExecutor({ kernel, contexts, stores, records, earlierSearchesOf });
const lister = new RecordLister(contexts, stores);
const writer = new ResponseWriter();

export default async function handle(start: SearchWorkerStart): Promise<unknown> {
  if (start.kind === 'serve') return answerBatches(start.end, answer);
  const bytes = await answer(start);
  // The form in which Piscina transfers bytes instead of copying them.
  return move({ [transferableSymbol]: [bytes], [valueSymbol]: bytes });
}

function answer(message: SearchWorkerMessage): ArrayBuffer | Promise<never> {
  return message.kind === 'batch' ? runBatch(message) : die(message.how);
}

function runBatch({ tasks, stops, sliceMs }: SearchBatch): ArrayBuffer {
  writer.truncate(0);
  const answer = new BatchAnswerWriter(writer, tasks.length);
  try {
    let isFull = false;
    const endMs = performance.now() + sliceMs;
    for (const [index, task] of tasks.entries()) {
      // The first search of a batch is always begun; a waiting search is delayed by at most two slices per batch.
      if (index > 0 && performance.now() >= endMs) {
        answer.unfinished('unbegun');
        continue;
      }
      kernel.watchStop(stops[2 * index] as number, sliceMs, stops[2 * index + 1] as number);
      if (isFull) answer.failed(postponed('full'));
      else isFull = !runTask(task, answer);
    }
    return answer.take();
  } finally {
    kernel.unwatchStop();
    writer.limitTo(Infinity);
    records.release();
  }
}

/** Runs one search of the batch. Returns false if the batch has no room for its answer. */
function runTask(task: SearchPoolTask, answer: BatchAnswerWriter): boolean {
  const begin = writer.length;
  const startedMs = performance.now();
  const { answerBytesMax } = task;
  writer.limitTo(answerBytesMax === undefined ? ORDINARY_ANSWER_BYTES : begin + answerBytesMax);
  try {
    // The client may have left while the search waited for this thread.
    kernel.stopIfAsked();
    const totalCount = execute(task);
    answer.answered(totalCount, performance.now() - startedMs);
    return true;
  } catch (error) {
    writer.truncate(begin);
    const unfinished = unfinishedBy(error);
    const isFull = error instanceof LongAnswerError && answerBytesMax === undefined && begin > 0;
    if (unfinished !== undefined) answer.unfinished(unfinished);
    else answer.failed(isFull ? postponed('full') : searchFailure(error, answerBytesMax));
    return !isFull;
  }
}

function unfinishedBy(error: unknown): Unfinished | undefined {
  if (!isKernelError(error)) return undefined;
  const { code } = error;
  return code === 'stopped' || code === 'deadline' || code === 'slice' ? code : undefined;
}

/** Writes the body of the answer; returns its total count. */
function execute(task: SearchPoolTask): number {
  switch (task.kind) {
    case 'search':
      return searches.execute(task, writer);
    case 'candidates':
      return searches.candidates(task, writer);
    case 'suggest':
      return suggestions.execute(task, writer);
    case 'related':
      return related.execute(task, writer);
    case 'records':
      return lister.page(task, writer);
    case 'record':
      return lister.record(task, writer);
  }
}

async function die(how: WorkerDeath): Promise<never> {
  if (!(workerData as SearchWorkerData).testing) throw new Error('this pool is not for testing');
  switch (how) {
    case 'throw':
      setImmediate(() => {
        throw new Error('a search worker was told to die');
      });
      break;
    case 'exit':
      process.exit(1);
      break;
    case 'memory': {
      const hoard: unknown[] = [];
      for (;;) hoard.push(new Array<number>(1_000_000).fill(0.5));
    }
  }
  return new Promise(() => undefined);
}
