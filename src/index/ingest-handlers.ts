/** Runs the tasks of an ingest worker. Synchronous: a thread runs one task at a time. */
import { bulkBatch, deleteMatching, removeUnlisted, reportImports, writeBatch } from './commit/write-handlers.js';
import { check } from './segments/check-handler.js';
import { embedRecords, forgetSpace, learnModel } from './meaning/built-in-handlers.js';
import { calibrate, commitCalibration } from './meaning/calibration-handlers.js';
import type { IngestContext } from './contract/ingest-context.js';
import {
  attachModel,
  commitVectors,
  queueEmbeddings,
  renderTexts,
  retryEmbeddings,
} from './meaning/meaning-handlers.js';
import { buildVectors, commitVectorIndex, commitVectorMerge, mergeVectors } from './meaning/vector-index-handlers.js';
import { commitMerge, merge } from './merge/merge-handlers.js';
import { commitReindex, reindex } from './reindex/reindex-handlers.js';
import { commitPages } from './resources/page-handlers.js';
import { attachPictures } from './resources/picture-handlers.js';
import {
  commitReading,
  framesBy,
  keepTranscript,
  linkedTexts,
  lookAtFiles,
  queueLinks,
  readDamagedAgain,
  refreshResources,
  transcribeBy,
} from './resources/resource-handlers.js';
import { cloneList } from './versions/clone-handler.js';
import { buildStep, createList, dropVersion, keepEntry, startBuild } from './versions/version-handlers.js';
import type {
  IngestExecutor,
  IngestResult,
  IngestResults,
  IngestTask,
  MeaningResults,
  MeaningTask,
} from './contract/ingest-tasks.js';

export type { IngestContext };

/** Throws a ServiceError if the task is at fault or the disk is full; anything else is a bug. */
export function runIngestTask<T extends IngestTask>(context: IngestContext, task: T): IngestResult<T> {
  return dispatch(context, task) as IngestResult<T>;
}

function dispatch(context: IngestContext, task: IngestTask): IngestResults[IngestTask['kind']] {
  switch (task.kind) {
    case 'create-list':
      return createList(context, task);
    case 'keep-entry':
      return keepEntry(context, task);
    case 'write-batch':
      return writeBatch(context, task);
    case 'bulk-batch':
      return bulkBatch(context, task);
    case 'report-imports':
      return reportImports(context, task);
    case 'delete-matching':
      return deleteMatching(context, task);
    case 'remove-unlisted':
      return removeUnlisted(context, task);
    case 'merge':
      return merge(context, task);
    case 'commit-merge':
      return commitMerge(context, task);
    case 'start-build':
      return startBuild(context, task);
    case 'build-step':
      return buildStep(context, task);
    case 'drop-version':
      return dropVersion(context, task);
    case 'clone-list':
      return cloneList(context, task);
    case 'reindex':
      return reindex(context, task);
    case 'commit-reindex':
      return commitReindex(context, task);
    case 'check':
      return check(context, task);
    case 'attach-pictures':
      return attachPictures(context, task);
    case 'queue-links':
      return queueLinks(context, task);
    case 'commit-reading':
      return commitReading(context, task);
    case 'commit-pages':
      return commitPages(context, task);
    case 'refresh-resources':
      return refreshResources(context, task);
    case 'keep-transcript':
      return keepTranscript(context, task);
    case 'transcribe-by':
      return transcribeBy(context, task);
    case 'frames-by':
      return framesBy(context, task);
    case 'look-at-files':
      return lookAtFiles(context, task);
    case 'read-again':
      return readDamagedAgain(context, task);
    case 'linked-texts':
      return linkedTexts(context, task);
    default:
      return dispatchMeaning(context, task);
  }
}

function dispatchMeaning(context: IngestContext, task: MeaningTask): MeaningResults[MeaningTask['kind']] {
  switch (task.kind) {
    case 'attach-model':
      return attachModel(context, task);
    case 'learn-model':
      return learnModel(context, task);
    case 'embed-records':
      return embedRecords(context, task);
    case 'forget-space':
      return forgetSpace(context, task);
    case 'queue-embeddings':
      return queueEmbeddings(context, task);
    case 'render-texts':
      return renderTexts(context, task);
    case 'commit-vectors':
      return commitVectors(context, task);
    case 'build-vectors':
      return buildVectors(context, task);
    case 'commit-vector-index':
      return commitVectorIndex(context, task);
    case 'merge-vectors':
      return mergeVectors(context, task);
    case 'commit-vector-merge':
      return commitVectorMerge(context, task);
    case 'calibrate':
      return calibrate(context, task);
    case 'commit-calibration':
      return commitCalibration(context, task);
    case 'retry-embeddings':
      return retryEmbeddings(context, task);
  }
}

/**
 * Returns an executor that runs tasks in the calling thread, one after the other: for tests and for commands that need
 * no service.
 */
export function createInlineExecutor(context: IngestContext): IngestExecutor {
  let last: Promise<unknown> = Promise.resolve();
  return {
    waiting: 0,
    waitingByAccount: () => new Map(),
    run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
      const result = last.then(() => runIngestTask(context, task));
      last = result.catch(() => undefined);
      return result;
    },
  };
}
