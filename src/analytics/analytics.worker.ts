/** The entry of the analytics thread. The work itself is in `task-handler.ts`; here is what happens to a storage that is damaged. */
import { serveHost } from '../platform/hosts/serve-host.js';
import { isDamage, setAside } from '../platform/index.js';
import type { AnalyticsProtocol, AnalyticsWorkerData } from './analytics-protocol.js';
import { eventsFolder } from './folder.js';
import { AnalyticsTaskHandler } from './task-handler.js';
import type { AnalyticsResult, AnalyticsTask } from './tasks.js';

/**
 * The storage is opened with the first task, so that one that cannot be opened is an answer and is tried again. One that is damaged
 * is set aside, and the task is run once more on a new one: searches are counted on, and what was counted before can be looked for.
 */
class AnalyticsWorker {
  #handler: AnalyticsTaskHandler | undefined;
  #beginning: Promise<void> | undefined;

  constructor(private readonly folder: string) {}

  async run(task: AnalyticsTask): Promise<AnalyticsResult<AnalyticsTask>> {
    const used = this.#handler;
    try {
      return await this.#opened().run(task);
    } catch (error) {
      if (!isDamage(error)) throw error;
      await this.#beginAnew(used, error);
      return this.#opened().run(task);
    }
  }

  /** Resolves when what was asked before is done and on disk. */
  async close(): Promise<void> {
    await this.#handler?.close();
  }

  #opened(): AnalyticsTaskHandler {
    return (this.#handler ??= new AnalyticsTaskHandler(this.folder));
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
      if (!isDamage(failure)) throw failure;
    });
    const path = setAside(eventsFolder(this.folder));
    process.stderr.write(
      `The analytics storage is damaged (${String(error)}); it was set aside as ${path}, and a new one is begun.\n`,
    );
  }
}

serveHost<AnalyticsProtocol>((data) => {
  const worker = new AnalyticsWorker((data as AnalyticsWorkerData).analyticsFolder);
  return { answers: { run: (task) => worker.run(task) }, notices: {}, close: () => worker.close() };
});
