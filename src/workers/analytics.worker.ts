/** The entry of the analytics thread: tasks that are answered as WorkerReplies. The work itself is in src/analytics. */
import { workerData } from 'node:worker_threads';
import { join } from 'node:path';
import { AnalyticsTaskHandler, type AnalyticsResult, type AnalyticsTask } from '../analytics/index.js';
import { isDamage, setAside } from '../platform/index.js';
import { giveWayToSearches } from './background-thread.js';
import { replyOf, type WorkerReply } from '../platform/hosts/reply.js';

/** `workerData` of the analytics thread. */
export interface AnalyticsWorkerData {
  /** `data/analytics`. */
  readonly analyticsFolder: string;
}

giveWayToSearches('analytics');

let handler: AnalyticsTaskHandler | undefined;

/**
 * The storage is opened with the first task, so that one that cannot be opened is an answer and is tried again. One that is damaged
 * is set aside, and the task is run once more on a new one: searches are counted on, and what was counted before can be looked for.
 */
export default function runTask(task: AnalyticsTask): Promise<WorkerReply<AnalyticsResult<AnalyticsTask>>> {
  return replyOf(async () => {
    const used = handler;
    try {
      return await openHandler().run(task);
    } catch (error) {
      if (!isDamage(error)) throw error;
      await beginAnew(used, error);
      return openHandler().run(task);
    }
  });
}

function openHandler(): AnalyticsTaskHandler {
  return (handler ??= new AnalyticsTaskHandler((workerData as AnalyticsWorkerData).analyticsFolder));
}

let beginning: Promise<void> | undefined;

/** Tasks that met the same damage wait for the one that was first. */
function beginAnew(used: AnalyticsTaskHandler | undefined, error: unknown): Promise<void> {
  if (beginning === undefined && used !== undefined && handler !== used) return Promise.resolve();
  return (beginning ??= replace(error).finally(() => {
    beginning = undefined;
  }));
}

async function replace(error: unknown): Promise<void> {
  const damaged = handler;
  handler = undefined;
  // What waits for its turn there fails as well, and comes here.
  await damaged?.close().catch((failure: unknown) => {
    if (!isDamage(failure)) throw failure;
  });
  const path = setAside(join((workerData as AnalyticsWorkerData).analyticsFolder, 'events'));
  process.stderr.write(
    `The analytics storage is damaged (${String(error)}); it was set aside as ${path}, and a new one is begun.\n`,
  );
}
