/**
 * Builds the next version of a list from the records of the current one, in steps that take turns with writes. The
 * commit that copies the last record also makes the new version current. After a crash the build continues at its
 * cursor. Old versions beyond those to keep are dropped. Main thread only.
 */
import { basename } from 'node:path';
import type { FieldDefinition } from '../../catalog/index.js';
import type { Job } from '../../platform/index.js';
import { buildingVersionOf } from '../../store/index.js';
import { DAMAGED_PAGES } from '../parts/readable-pages.js';
import type { BackgroundHost, WritingTaskPart } from './background-host.js';

/** Limits of one step: they bound how long a write waits for it. */
const STEP_RECORDS_MAX = 10_000;
const STEP_BYTES_MAX = 8 * 2 ** 20;
const RETRY_PAUSE_MS = 5000;

export class NextVersionBuilder {
  private running: Promise<void> | undefined;
  private job: { readonly version: number; readonly progress: Job } | undefined;
  private readonly drops = new Map<number, Promise<void>>();
  private pause: NodeJS.Timeout | undefined;
  private stopping = false;

  constructor(private readonly host: BackgroundHost) {}

  /**
   * Resolves with the number of the new version when its build is recorded on disk. If it rejects, nothing has changed.
   */
  async start(definition: FieldDefinition, renames: Readonly<Record<string, string>>): Promise<number> {
    const { host } = this;
    const { version, givenUp } = await host.exclusive(async () => {
      const before = buildingVersionOf(host.state());
      return { version: await this.record(definition, renames), givenUp: before?.version };
    });
    if (givenUp !== undefined) this.drop(givenUp);
    this.proceed();
    return version;
  }

  /**
   * The commit may be on disk although its task failed, for example if its worker died afterwards: the store decides.
   */
  private async record(definition: FieldDefinition, renames: Readonly<Record<string, string>>): Promise<number> {
    const { host } = this;
    const before = buildingVersionOf(host.state());
    const task = { listPath: host.listPath, nowMs: host.clock.nowMs(), definition, renames, events: host.eventTask() };
    try {
      const { state, version } = await host.runCommit({ kind: 'start-build', ...task });
      host.addVersion(state, version);
      return version;
    } catch (error) {
      const begun = buildingVersionOf(host.state());
      if (begun === undefined || begun.version === before?.version) throw error;
      return begun.version;
    }
  }

  /** Call it after the list was opened. */
  resume(): void {
    for (const version of this.host.orphanedVersions()) this.drop(version);
    this.dropOldVersions();
    this.proceed();
  }

  /** True if a version is being built or dropped. */
  get isAtWork(): boolean {
    return this.running !== undefined || this.pause !== undefined || this.drops.size > 0;
  }

  stop(): void {
    this.stopping = true;
    this.job?.progress.stop();
    clearTimeout(this.pause);
  }

  /** Resolves when nothing is in progress any more. Call it after `stop`. */
  async stopped(): Promise<void> {
    await Promise.all([this.running, ...this.drops.values()]);
  }

  private proceed(): void {
    if (this.stopping || this.running !== undefined || this.pause !== undefined) return;
    if (buildingVersionOf(this.host.state()) === undefined) return;
    this.running = this.build().finally(() => {
      this.running = undefined;
      // Another build may have been started just as this one ended.
      this.proceed();
    });
  }

  /** Never rejects. */
  private async build(): Promise<void> {
    const { host } = this;
    try {
      while (!this.stopping && (await host.exclusive(() => host.withWritingTask((task) => this.step(task))))) {
        // Each turn is one step; waiting writes run between two steps.
      }
      this.dropOldVersions();
    } catch (error) {
      if (this.stopping) return;
      host.log.warn({ list: host.listPath, err: error }, 'building a version failed and goes on later');
      this.pause = setTimeout(() => {
        this.pause = undefined;
        // The failed step may have been the last one, and on disk all the same.
        this.dropOldVersions();
        this.proceed();
      }, RETRY_PAUSE_MS);
      this.pause.unref();
    }
  }

  /** Returns false when nothing is left to build. */
  private async step(task: WritingTaskPart): Promise<boolean> {
    const { host } = this;
    const { building } = task;
    if (building === undefined) return false;
    const limits = {
      recordsMax: Math.min(STEP_RECORDS_MAX, host.budget.batchRecordsMax),
      bytesMax: Math.min(STEP_BYTES_MAX, host.storePages.batchBytesMax(host.listPath)),
    };
    const job = this.jobOf(building.version);
    host.storePages.written(host.listPath, limits.bytesMax);
    const result = await host.runCommit({ kind: 'build-step', ...task, building, ...limits });
    host.publishCommit(result.commit);
    const { unfit, copied, damaged, done } = result;
    job.advance(copied);
    const entry = { list: host.listPath, version: building.version, copied };
    if (Object.keys(unfit).length > 0)
      host.log.warn({ ...entry, unfit }, 'values that do not fit the new definition are stored and not indexed');
    if (damaged.length > 0) host.log.warn({ ...entry, damaged }, DAMAGED_PAGES);
    if (done) {
      job.finish();
      host.log.info(entry, 'a version was built and is current');
    }
    return !done;
  }

  /** After a restart the job starts with what has been copied already. */
  private jobOf(version: number): Job {
    if (this.job?.version === version) return this.job.progress;
    const { host } = this;
    const progress = host.progress.begin({
      kind: 'version',
      subject: basename(host.listPath),
      total: host.published(host.state().currentVersion)?.recordCount ?? null,
      doneBefore: host.published(version)?.recordCount ?? 0,
    });
    progress.start();
    this.job = { version, progress };
    return progress;
  }

  private dropOldVersions(): void {
    const state = this.host.state();
    const frozen = state.versions.filter(
      ({ version, state: is }) => is === 'ready' && version !== state.currentVersion,
    );
    for (const { version } of frozen.slice(0, Math.max(0, frozen.length - this.host.config.versions.kept)))
      this.drop(version);
  }

  private drop(version: number): void {
    const { host } = this;
    if (this.drops.has(version)) return;
    const dropped = host
      .dropVersion(version)
      .catch((error: unknown) => {
        // The version stays on disk, hidden, and is dropped at the next start.
        if (!this.stopping)
          host.log.warn({ list: host.listPath, version, err: error }, 'an old version could not be dropped');
      })
      .finally(() => this.drops.delete(version));
    this.drops.set(version, dropped);
  }
}
