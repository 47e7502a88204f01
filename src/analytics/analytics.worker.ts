/** Entry of the analytics thread, which also handles a damaged storage. The work itself is in `task-handler.ts`. */
import { serveHost, type Emit } from '../platform/hosts/serve-host.js';
import { kernel } from '../../native-bindings/index.js';
import { EnvironmentFaults, isDamage, isUnreadable, ServiceError, setAside, systemReason } from '../platform/index.js';
import { ANALYTICS_UNAVAILABLE } from './analytics-problems.js';
import type { AnalyticsProtocol, AnalyticsWorkerData } from './analytics-protocol.js';
import { eventsFolder } from './folder.js';
import { AnalyticsTaskHandler } from './task-handler.js';
import type { AnalyticsResult, AnalyticsTask } from './tasks.js';

/**
 * Interval of reopening a storage that the disk cannot read; it grows while that lasts, since each attempt reads the
 * whole file.
 */
const REOPEN_MS = { first: 5000, max: 60_000 };

/**
 * Opens the storage with the first task, so that a failure to open it is the task's error and is retried with the next.
 * A damaged storage is set aside, and the task is repeated on a new one: counting continues, and earlier counts can be
 * recovered from the old one. A storage that the disk cannot read stays in place and is opened again; its events wait
 * in the recorder.
 */
class AnalyticsWorker {
  #handler: AnalyticsTaskHandler | undefined;
  #faults: EnvironmentFaults | undefined;
  #refusal: { readonly error: ServiceError; readonly untilMs: number } | undefined;
  #beginning: Promise<void> | undefined;

  /** Number of refusals since it could last be read. */
  #refusals = 0;
  /**
   * True if it was last reported as readable. Initially false, since an earlier thread may have reported the opposite.
   */
  #isToldReadable = false;

  constructor(
    private readonly folder: string,
    private readonly emit: Emit<AnalyticsProtocol>,
  ) {}

  async run(task: AnalyticsTask): Promise<AnalyticsResult<AnalyticsTask>> {
    const used = this.#handler;
    try {
      return this.#read(await this.#opened().run(task));
    } catch (error) {
      if (!isDamage(error) && !isUnreadable(error)) throw error;
      await this.#beginAnew(used, error);
      return this.#opened().run(task);
    }
  }

  #read(result: AnalyticsResult<AnalyticsTask>): AnalyticsResult<AnalyticsTask> {
    if (!this.#isToldReadable) this.emit('storage', { unreadable: null });
    this.#isToldReadable = true;
    this.#refusals = 0;
    return result;
  }

  /** Resolves when all earlier tasks are done and on disk. */
  async close(): Promise<void> {
    await this.#handler?.close();
  }

  #opened(): AnalyticsTaskHandler {
    if (this.#handler !== undefined) return this.#handler;
    if (this.#refusal !== undefined && performance.now() < this.#refusal.untilMs) throw this.#refusal.error;
    this.#refusal = undefined;
    this.#faults = new EnvironmentFaults(eventsFolder(this.folder), () => kernel.unreadableCount());
    return (this.#handler = new AnalyticsTaskHandler(this.folder));
  }

  /** Replaces the damaged storage; tasks that meet the same damage share one replacement. */
  #beginAnew(used: AnalyticsTaskHandler | undefined, error: unknown): Promise<void> {
    if (this.#beginning === undefined && used !== undefined && this.#handler !== used) return Promise.resolve();
    return (this.#beginning ??= this.#replace(error).finally(() => {
      this.#beginning = undefined;
    }));
  }

  async #replace(error: unknown): Promise<void> {
    const damaged = this.#handler;
    this.#handler = undefined;
    // Tasks that wait in the old handler fail as well, and come here.
    await damaged?.close().catch((failure: unknown) => {
      if (!isDamage(failure) && !isUnreadable(failure)) throw failure;
    });
    const reason = isUnreadable(error) ? systemReason(error) : this.#faults?.whyNotOfTheFile();
    if (reason !== undefined) {
      const detail = `The analytics storage is left as it is, and tried again: ${reason}.`;
      const waitMs = Math.min(REOPEN_MS.max, REOPEN_MS.first * 2 ** this.#refusals);
      this.#refusals += 1;
      this.#refusal = { error: new ServiceError(ANALYTICS_UNAVAILABLE, detail), untilMs: performance.now() + waitMs };
      this.#isToldReadable = false;
      this.emit('storage', { unreadable: detail });
      throw this.#refusal.error;
    }
    const path = setAside(eventsFolder(this.folder));
    process.stderr.write(
      `The analytics storage is damaged (${String(error)}); it was set aside as ${path}, and a new one is begun.\n`,
    );
  }
}

serveHost<AnalyticsProtocol>((data, emit) => {
  const worker = new AnalyticsWorker((data as AnalyticsWorkerData).analyticsFolder, emit);
  return { answers: { run: (task) => worker.run(task) }, notices: {}, close: () => worker.close() };
});
