/** The entry of the analytics thread: tasks that are answered as WorkerReplies. The work itself is in src/analytics. */
import { workerData } from 'node:worker_threads';
import { AnalyticsTaskHandler, type AnalyticsResult, type AnalyticsTask } from '../analytics/index.js';
import { giveWayToSearches } from './background-thread.js';
import { replyOf, type WorkerReply } from '../platform/hosts/reply.js';

/** `workerData` of the analytics thread. */
export interface AnalyticsWorkerData {
  /** `data/analytics`. */
  readonly analyticsFolder: string;
}

giveWayToSearches('analytics');

let handler: AnalyticsTaskHandler | undefined;

/** The storage is opened with the first task, so that one that cannot be opened is an answer and is tried again. */
export default function runTask(task: AnalyticsTask): Promise<WorkerReply<AnalyticsResult<AnalyticsTask>>> {
  return replyOf(() => {
    handler ??= new AnalyticsTaskHandler((workerData as AnalyticsWorkerData).analyticsFolder);
    return handler.run(task);
  });
}
