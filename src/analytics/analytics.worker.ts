/** The entry of the analytics thread. The work itself is in `task-handler.ts`; here is what happens to a storage that is damaged. */
import { serveHost, type Emit } from '../platform/hosts/serve-host.js';
import { kernel } from '../../native-bindings/index.js';
import { EnvironmentFaults, isDamage, isUnreadable, ServiceError, setAside, systemReason } from '../platform/index.js';
import { ANALYTICS_UNAVAILABLE } from './analytics-problems.js';
import type { AnalyticsProtocol, AnalyticsWorkerData } from './analytics-protocol.js';
import { eventsFolder } from './folder.js';
import { AnalyticsTaskHandler } from './task-handler.js';
import type { AnalyticsResult, AnalyticsTask } from './tasks.js';

/** One that the disk cannot read is opened no more often, and less often the longer that lasts: it is read as a whole to see whether it is over. */
const REOPEN_MS = { first: 5000, max: 60_000 };

/**
 * The storage is opened with the first task, so that one that cannot be opened is an answer and is tried again. One that is damaged
 * is set aside, and the task is run once more on a new one: searches are counted on, and what was counted before can be looked for.
 * One that the disk cannot read stays where it is and is opened again; what is to be counted waits with who recorded it.
 */
class AnalyticsWorker {
  #handler: AnalyticsTaskHandler | undefined;
  #faults: EnvironmentFaults | undefined;
  #refusal: { readonly error: ServiceError; readonly untilMs: number } | undefined;
  #beginning: Promise<void> | undefined;

  /** How often it was refused since it could be read last. */
  #refusals = 0;
  /** Whether that it can be read was told last. Not at first: a thread that ended may have told that it cannot. */
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

  /** Resolves when what was asked before is done and on disk. */
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

  /** Tasks that met the same damage wait for the one that was first. */
  #beginAnew(used: AnalyticsTaskHandler | undefined, error: unknown): Promise<void> {
    if (this.#beginning === undefined && used !== undefined && this.#handler !== used) return Promise.resolve();
    return (this.#beginning ??= this.#replace(error).finally(() => {
      this.#beginning = undefined;
    }));
  }

  async #replace(error: unknown): Promise<void> {
    const damaged = this.#handler;
    this.#handler = undefined;
    // What waits for its turn there fails as well, and comes here.
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
