/** A source told whole: an import that leaves alone what is as it is, and then takes away what the source does not list any more. */
import type { BatchOutcome } from '../contract/ingest-tasks.js';
import type { ImportSession, SyncOutcome, SyncSession } from '../contract/types.js';
import { ListedRecords } from './listed-records.js';

export interface SourceSyncOptions {
  /** `onBatch` is to be told of each batch when it is on disk. */
  readonly start: (onBatch: (outcome: BatchOutcome) => void) => ImportSession;
  /** Takes some of them away; resolves with where to go on, undefined where that was the last. */
  readonly removeUnlisted: (
    listed: Uint8Array,
    cursor: number,
  ) => Promise<{ readonly removed: number; readonly cursor: number | undefined }>;
  /** Called once, when nothing follows any more. */
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
    // Whoever wants small commits gives way to searches: those that come now meet one commit at the most (docs/decisions/0268).
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
    // What cannot be read may be any of the records that seem to be gone.
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
