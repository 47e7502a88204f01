/**
 * Runs the tasks of a list that may commit, and publishes their changes. If anything goes wrong between a commit and
 * its publication, the store is authoritative: it is read before anything else happens to the list. Main thread only.
 */
import type { Logger } from 'pino';
import { asResourceError, ServiceError } from '../../platform/index.js';
import type { RecordStore } from '../../records/index.js';
import type { ListState } from '../../store/index.js';
import type { Commit, IngestExecutor, IngestResult, IngestTask } from '../contract/ingest-tasks.js';
import type { PublishedVersions } from './published-versions.js';

export interface CommitPublisherOptions {
  readonly listPath: string;
  readonly log: Logger;
  readonly executor: IngestExecutor;
  readonly store: RecordStore;
  readonly published: PublishedVersions;
  /** State of the last published commit. */
  readonly state: () => ListState;
  readonly adopt: (state: ListState) => void;
  /** Versions that are being dropped: the state may still name them, but they are no longer visible. */
  readonly dropping: ReadonlySet<number>;
}

export class CommitPublisher {
  constructor(private readonly options: CommitPublisherOptions) {}

  /**
   * Runs a task that may commit. After `internal-error` it is unknown whether it did (its worker may have died after
   * the commit), so the store is read again.
   */
  async run<T extends IngestTask>(task: T): Promise<IngestResult<T>> {
    const { listPath, log, executor } = this.options;
    try {
      return await executor.run(task);
    } catch (error) {
      const known = error instanceof ServiceError ? error : internalError(error);
      if (known.code === 'internal-error') {
        log.error({ list: listPath, task: task.kind, err: error }, 'a commit failed; reading the store again');
        this.resync();
      }
      throw known;
    }
  }

  publish(commit: Commit): void {
    const { listPath, log, published, adopt } = this.options;
    try {
      adopt(commit.state);
      for (const change of commit.changes) {
        const version = commit.state.versions.find((candidate) => candidate.version === change.version);
        if (version === undefined) throw new Error(`a commit changed version ${change.version}, which is gone`);
        published.required(change.version).apply(change, published.settingsOf(version));
      }
    } catch (error) {
      // The commit is on disk, but may have been only partly applied in memory.
      log.error({ list: listPath, err: error }, 'a commit could not be published; reading the store again');
      this.resync(true);
      throw internalError(error);
    }
  }

  /** Opens a version that a commit has recorded. */
  addVersion(state: ListState, version: number): void {
    const { listPath, log, published, adopt } = this.options;
    try {
      adopt(state);
      const added = state.versions.find((candidate) => candidate.version === version);
      if (added === undefined) throw new Error(`version ${version} was not recorded`);
      published.add(added);
    } catch (error) {
      log.error({ list: listPath, version, err: error }, 'a version could not be opened; reading the store again');
      this.resync(true);
    }
  }

  /** Brings memory in line with the store if the store has changed (or `always`). */
  private resync(always = false): void {
    const { listPath, store, published, adopt, dropping } = this.options;
    store.refresh();
    const state = store.state();
    if (state === undefined) throw new Error(`${listPath} has lost its state`);
    if (state.sequence === this.options.state().sequence && !always) return;
    published.reopen(state, dropping);
    adopt(state);
  }
}

/** Reports if the process is out of descriptors or memory. */
export function internalError(cause: unknown): ServiceError {
  const error = asResourceError(cause);
  if (error instanceof ServiceError) return error;
  return new ServiceError('internal-error', 'The write failed because of an error in the service.', {
    cause,
  });
}
