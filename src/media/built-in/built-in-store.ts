/**
 * The built-in store that every account has in the data directory. Contents are blobs, names are rows; a file exists
 * from the transaction that names its blob. Main thread only.
 */
import { ServiceError, unlessEnded, type Clock } from '../../platform/index.js';
import { fileNotFound } from '../media-path.js';
import type {
  FileCheck,
  FilePage,
  ListQuery,
  MediaStore,
  OpenFile,
  PutOutcome,
  StoredFile,
  StoreUsage,
  Upload,
} from '../media-store.js';
import { piecesOf } from '../file-pieces.js';
import { verifiedPieces, type BlobFolder } from './blob-folder.js';
import type { FileEntry, FileTable, TableChange } from './file-table.js';
import { StoreRoom, type RoomClaim, type RoomLimits } from './store-room.js';

/** Contents removed in parallel. */
const REMOVED_AT_ONCE_MAX = 64;
/** Removals that share a sync of their folder. The next start repeats unsynced ones. */
const REMOVED_UNSYNCED_MAX = 256;

export interface BuiltInStoreOptions {
  /** `<account>/<store>`: key of the store's files in the table. */
  readonly id: string;
  readonly table: FileTable;
  readonly blobs: BlobFolder;
  readonly limits: RoomLimits;
  readonly clock: Clock;
  /** Aborted when the service stops: the next start then finishes removing and moving blobs. */
  readonly closing: AbortSignal;
  /** Called first in the transaction of an upload. Throws if the account is gone. */
  readonly assertWanted: () => void;
  /** Called before an upload is received. Rejects if the account may not grow. */
  readonly assertMayGrow: () => Promise<void>;
  /** Called in the transaction of the change. */
  readonly told: (change: TableChange, kind: 'uploaded' | 'deleted', file: StoredFile) => void;
  /** Called when the change is on disk. */
  readonly changed?: (file: StoredFile) => void;
  /** Called if a content could not be moved or removed; the next start does it. */
  readonly untidy?: (error: unknown) => void;
}

export class BuiltInStore implements MediaStore {
  private readonly room: StoreRoom;
  private recovered: Promise<void> | undefined;
  /**
   * Removed blobs whose folder has not been synced yet. They stay on the list of blobs to remove, since a power failure
   * may bring them back.
   */
  private readonly removed = new Set<string>();
  private forgetting: Promise<void> | undefined;

  constructor(private readonly options: BuiltInStoreOptions) {
    const { id, table, limits } = options;
    this.room = new StoreRoom(limits, () => table.usage(id));
  }

  async put({ path, contentType, bytes, body, check }: Upload): Promise<PutOutcome> {
    const { blobs, id, table } = this.options;
    const before = table.get(id, path);
    check(before);
    // Before the first await, so that of simultaneous uploads only those that fit are received.
    const claim = this.room.claim(bytes ?? 0, before?.bytes);
    try {
      await this.recover();
      await this.options.assertMayGrow();
      const received = await blobs.receive(body, (soFar) => {
        claim.growTo(soFar);
      });
      try {
        const entry = { path, blob: received.id, bytes: received.bytes, contentType, etag: received.digest };
        const { outcome, replaced } = await this.commit(entry, claim, check);
        this.options.changed?.(outcome.file);
        await this.tidy(async () => {
          await blobs.keep(received.id);
          if (replaced !== undefined) await this.removeBlobs([replaced]);
        });
        return outcome;
      } catch (error) {
        // A failed commit has named nothing. If the commit did happen, the blob is kept wherever it is.
        if (table.get(id, path)?.blob !== received.id) await blobs.remove(received.id);
        throw error;
      }
    } finally {
      claim.release();
    }
  }

  async open(path: string): Promise<OpenFile | undefined> {
    const { blobs, id, table } = this.options;
    for (;;) {
      const entry = table.get(id, path);
      if (entry === undefined) return undefined;
      try {
        const handle = await blobs.open(entry.blob);
        const { size } = await handle.stat();
        if (size !== entry.bytes) {
          await handle.close();
          throw this.damage(entry, `it has ${size} of ${entry.bytes} bytes`);
        }
        return openFile(handle, entry, () => this.damage(entry, 'its content is not what was uploaded'));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
        // If the file was replaced meanwhile, the loop opens the new blob.
        if (table.get(id, path)?.blob === entry.blob) throw this.damage(entry, 'its content is missing');
      }
    }
  }

  stat(path: string): Promise<StoredFile | undefined> {
    return Promise.resolve(this.options.table.get(this.options.id, path));
  }

  async remove(path: string, check: FileCheck): Promise<StoredFile> {
    const { id, table, told } = this.options;
    const removed = await table.change((change) => {
      const entry = change.get(id, path);
      check(entry);
      if (entry === undefined) throw fileNotFound(path);
      change.remove(id, entry);
      told(change, 'deleted', entry);
      return entry;
    });
    this.options.changed?.(removed);
    await this.tidy(() => this.removeBlobs([removed.blob]));
    return removed;
  }

  list({ prefix, after, size }: ListQuery): Promise<FilePage> {
    const files: StoredFile[] = [];
    for (const entry of this.options.table.range(this.options.id, prefix, after)) {
      if (files.length === size) return Promise.resolve({ files, hasMore: true });
      files.push(entry);
    }
    return Promise.resolve({ files, hasMore: false });
  }

  usage(): Promise<StoreUsage> {
    const [bytesUsed, fileCount] = this.options.table.usage(this.options.id);
    return Promise.resolve({ bytesUsed, fileCount, bytesMax: this.room.limits.bytesMax });
  }

  /**
   * Finds inconsistencies: wrong sums, missing or damaged contents, and contents without a file. Reads everything,
   * while files may come and go.
   */
  async check(): Promise<{ readonly problems: string[]; readonly unnamed: number }> {
    const { id, table } = this.options;
    const problems: string[] = [];
    // A snapshot, so that it can be compared with the sums although files are added during the check.
    const entries = [...table.range(id, '', '')];
    const [countedBytes, countedFiles] = table.usage(id);
    for (const { path } of entries) {
      try {
        await readThrough(await this.open(path));
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        problems.push(error.detail);
      }
    }
    const bytes = entries.reduce((sum, entry) => sum + entry.bytes, 0);
    if (countedBytes !== bytes || countedFiles !== entries.length) {
      problems.push(
        `${entries.length} files have ${bytes} bytes, but ${countedFiles} files and ${countedBytes} bytes are counted`,
      );
    }
    const unnamed = await this.unnamed(new Set(entries.map(({ blob }) => blob)));
    if (unnamed > 0) problems.push(`${unnamed} contents belong to no file`);
    return { problems, unnamed };
  }

  /** Returns how many contents no file names. `before` has the blobs that were named when the check began. */
  private async unnamed(before: ReadonlySet<string>): Promise<number> {
    const { blobs, id, table } = this.options;
    const kept = await blobs.kept();
    const now = new Set(Array.from(table.range(id, '', ''), ({ blob }) => blob));
    const nameless = kept.filter((blob) => !before.has(blob) && !now.has(blob));
    if (nameless.length === 0) return 0;
    // Files that were added and removed meanwhile are on the list of blobs to remove, and may be removed just now.
    await this.removeLeft().catch(() => undefined);
    const still = new Set(await blobs.kept());
    return nameless.filter((blob) => still.has(blob)).length;
  }

  /** Once per process, before the first upload: moves or removes what a crash left. Ends early if the service stops. */
  recover(): Promise<void> {
    this.recovered ??= this.recoverNow().catch((error: unknown) => {
      this.recovered = undefined;
      throw error;
    });
    return this.recovered;
  }

  private async recoverNow(): Promise<void> {
    const { blobs, closing, id, table } = this.options;
    const received = await unlessEnded(closing, blobs.received());
    if (received === undefined) return;
    if (received.length > 0) {
      const named = new Set(Array.from(table.range(id, '', ''), ({ blob }) => blob));
      for (const blob of received) {
        await unlessEnded(closing, named.has(blob) ? blobs.keepLeft(blob) : blobs.remove(blob));
        if (closing.aborted) return;
      }
    }
    await this.removeLeft();
  }

  /** Commits an upload. `replaced` is the blob that no file names any more. */
  private commit(
    file: Omit<FileEntry, 'modifiedUtc'>,
    claim: RoomClaim,
    check: FileCheck,
  ): Promise<{ readonly outcome: PutOutcome; readonly replaced: string | undefined }> {
    const { assertWanted, clock, id, table, told } = this.options;
    return table.change((change) => {
      assertWanted();
      const before = change.get(id, file.path);
      check(before);
      this.room.settle(claim, { bytes: file.bytes - (before?.bytes ?? 0), files: before === undefined ? 1 : 0 });
      const entry = { ...file, modifiedUtc: clock.nowIso() };
      change.put(id, entry);
      told(change, 'uploaded', entry);
      return { outcome: { file: entry, isNew: before === undefined }, replaced: before?.blob };
    });
  }

  /** Cleans up after a committed change. A failure is not reported to the caller; the next start cleans up again. */
  private async tidy(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      this.options.untidy?.(error);
    }
  }

  private removeLeft(): Promise<void> {
    const { id, table } = this.options;
    return this.removeBlobs(table.leftBlobs(id).filter((blob) => !this.removed.has(blob)));
  }

  /** Removes blobs. Open readers can continue. Blobs that cannot be removed now are removed at the next start. */
  private async removeBlobs(left: readonly string[]): Promise<void> {
    const { blobs, closing } = this.options;
    for (let first = 0; first < left.length; first += REMOVED_AT_ONCE_MAX) {
      const some = left.slice(first, first + REMOVED_AT_ONCE_MAX);
      await unlessEnded(closing, Promise.all(some.map((blob) => blobs.remove(blob))));
      // The database may be closed by now.
      if (closing.aborted) return;
      for (const blob of some) this.removed.add(blob);
    }
    if (this.removed.size >= REMOVED_UNSYNCED_MAX) await (this.forgetting ??= this.forgetRemoved());
  }

  private async forgetRemoved(): Promise<void> {
    const { blobs, closing, id, table } = this.options;
    try {
      const removed = [...this.removed];
      await unlessEnded(closing, blobs.removalsDone());
      if (closing.aborted) return;
      await table.removedBlobs(id, removed);
      for (const blob of removed) this.removed.delete(blob);
    } finally {
      this.forgetting = undefined;
    }
  }

  private damage({ path }: FileEntry, why: string): ServiceError {
    const name = `${JSON.stringify(path)} of the media store ${this.options.id}`;
    return new ServiceError('storage-damaged', `The file ${name} is damaged: ${why}. Upload it again.`);
  }
}

/** Throws if the content is damaged or has another length, which only reading shows. */
async function readThrough(opened: OpenFile | undefined): Promise<void> {
  if (opened === undefined) return;
  let bytes = 0;
  for await (const piece of opened.pieces()) bytes += piece.byteLength;
  if (bytes !== opened.file.bytes) throw new Error(`${bytes} bytes were read of ${opened.file.bytes}`);
}

function openFile(
  handle: Awaited<ReturnType<BlobFolder['open']>>,
  entry: FileEntry,
  damage: () => ServiceError,
): OpenFile {
  const close = () => handle.close();
  return {
    file: entry,
    async *pieces(range) {
      try {
        if (range === undefined) yield* verifiedPieces(handle, { bytes: entry.bytes, digest: entry.etag, damage });
        else yield* piecesOf(handle, range.begin, range.end);
      } finally {
        await close();
      }
    },
    close,
  };
}
