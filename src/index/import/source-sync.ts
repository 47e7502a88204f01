/**
 * A synchronisation with everything that a source has: an import that leaves unchanged records alone, and then removes
 * the records that the source no longer lists.
 */
import type { BatchOutcome } from '../contract/ingest-tasks.js';
import type { ImportSession, SyncOutcome, SyncSession } from '../contract/types.js';
import { ListedRecords } from './listed-records.js';

export interface SourceSyncOptions {
  /** `onBatch` must be called for each batch once it is on disk. */
  readonly start: (onBatch: (outcome: BatchOutcome) => void) => ImportSession;
  /** Removes some of the records. Resolves with the cursor to continue at; undefined after the last. */
  readonly removeUnlisted: (
    listed: Uint8Array,
    cursor: number,
  ) => Promise<{ readonly removed: number; readonly cursor: number | undefined }>;
  /** Called once, when nothing more follows. */
  readonly onEnded: () => void;
}

export class SourceSync implements SyncSession {
  private readonly listed = new ListedRecords();
  private readonly session: ImportSession;
  private unchanged = 0;
  private unreadable = 0;
  private isEnded = false;

  constructor(private readonly options: SourceSyncOptions) {
    this.session = options.start((outcome) => {
      this.listed.add(outcome.listed);
      this.unchanged += outcome.unchanged;
      this.unreadable += outcome.unreadable;
    });
  }

  async push(chunk: Uint8Array, commitBytesMax?: number): Promise<void> {
    await this.session.push(chunk, commitBytesMax);
    // A caller that wants small commits gives way to searches: a search that arrives now waits for one commit at most
    // (docs/decisions/0268).
    if (commitBytesMax !== undefined) await this.session.committed();
  }

  async end(): Promise<SyncOutcome> {
    try {
      return await this.removeRest();
    } finally {
      this.ended();
    }
  }

  abort(): void {
    this.session.abort();
    this.ended();
  }

  private ended(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    this.options.onEnded();
  }

  private async removeRest(): Promise<SyncOutcome> {
    const outcome = await this.session.end();
    let removed = 0;
    // An unreadable record may be any of those that seem to be missing, so nothing is removed.
    for (let cursor: number | undefined = this.unreadable > 0 ? undefined : 0; cursor !== undefined;) {
      const step: Awaited<ReturnType<SourceSyncOptions['removeUnlisted']>> = await this.options.removeUnlisted(
        this.listed.bits,
        cursor,
      );
      removed += step.removed;
      cursor = step.cursor;
    }
    return { ...outcome, unchanged: this.unchanged, removed };
  }
}
