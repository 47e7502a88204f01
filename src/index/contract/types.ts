/**
 * The lists as the main thread sees them: how they are opened, written and searched.
 *
 * Each list has one writer at a time: it has a queue whose tasks go to an ingest worker one after the other. A long
 * merge runs beside the queue, and only its commit takes a turn in it. A task ends with one LMDB transaction that holds
 * records, manifest and deletions. When that is on disk, the worker answers, the main thread publishes the new
 * generation to the kernel, and only then is the writer's request answered.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import type { GenerationHandle } from '../../../native-bindings/index.js';
import type { FileToRead, PageRange } from '../../extracts/index.js';
import type { Cancellation, ServiceError } from '../../platform/index.js';
import type {
  ExtractFault,
  ExtractFigures,
  ExtractState,
  FailedExtract,
  FrameReading,
  FileReader,
  ReadPage,
} from '../../extracts/index.js';
import type { FieldValue, GivenVectors, RecordResource, RecordFormat } from '../../records/index.js';
import type { VectorSpace } from '../../store/index.js';

import type { ListModels } from '../../vectors/index.js';
import type { RecordQuota } from './record-quota.js';

export type { FieldValue, RecordResource };

export interface VersionStatus {
  readonly version: number;
  readonly state: 'building' | 'ready';
  readonly record_count: number;
  readonly created_utc: string;
  readonly definition: FieldDefinition;
  /** Number of records per field that have a value which did not fit the definition when the version was built. */
  readonly unfit?: Readonly<Record<string, number>>;
}

/** A generation that stays valid until it is released. Take one per search and release it in a `finally` block. */
export interface GenerationLease {
  readonly handle: GenerationHandle;
  /** Changes with every publication; used as a key of caches. */
  readonly sequence: number;
  readonly version: number;
  readonly definition: FieldDefinition;
  /**
   * The same records in a generation that is searched by the vectors of their pictures; undefined if there are none.
   */
  readonly pictures: { readonly handle: GenerationHandle } | undefined;
  release(): void;
}

export type RecordBodyInput = Readonly<Record<string, unknown>>;

/** `asOf`: ISO 8601 date or date-time with a zone; defaults to the time of the write. */
interface WriteBody {
  readonly name: string | undefined;
  readonly fields: RecordBodyInput;
  readonly asOf?: string | undefined;
  /** Only for lists whose records bring their own vectors. Null removes the vectors; undefined: the write has none. */
  readonly vectors?: GivenVectors | undefined;
  /**
   * True if the writer has no access to media stores: it may keep the record's links into these, but add none
   * (`out-of-scope`).
   */
  readonly keepsLinks?: boolean;
}

interface ChangedRecord {
  readonly id: string;
  /**
   * True if the writer may also read records: `record-not-found` then names the id of the record whose name was given
   * in place of an id.
   */
  readonly reads?: boolean;
}

export type WriteRequest =
  /**
   * Adds a record, or replaces the one with its name. `id`: id of a record that was read and is sent back (`conflict`
   * if another record has the id or the name).
   */
  | (WriteBody & { readonly kind: 'put'; readonly id?: string })
  /** Replaces the record with this id. A new name renames it (`name-exists` if the name is taken). */
  | (WriteBody & ChangedRecord & { readonly kind: 'replace' })
  /** Sets the given fields and removes those that are null. */
  | (WriteBody & ChangedRecord & { readonly kind: 'patch' })
  | (ChangedRecord & { readonly kind: 'delete' });

export interface WriteResult {
  readonly outcome: 'created' | 'updated' | 'deleted';
  readonly record: RecordResource;
}

export interface BulkOutcome {
  readonly created: number;
  readonly updated: number;
  readonly failed: number;
  /** At most `bulk_errors_max` errors; the count in `failed` is exact. */
  readonly errors: readonly { readonly line: number; readonly name: string | null; readonly detail: string }[];
}

export interface ImportOptions {
  /** As `WriteBody.keepsLinks`. */
  readonly keepsLinks?: boolean;
  /** Field whose value becomes the name of a record that has none. */
  readonly nameFrom?: string;
  /** True if records only change existing records, which they identify by name. */
  readonly patch?: boolean;
}

/** A streaming import. Feed chunks as they arrive; `push` resolves when the next may come (back pressure). */
export interface ImportSession {
  /** `commitBytesMax`: commits after that many bytes of records, if that is less than the usual size of a commit. */
  push(chunk: Uint8Array, commitBytesMax?: number): Promise<void>;
  /** Resolves when no batch is being committed or waits for its turn. Never rejects. */
  committed(): Promise<void>;
  /**
   * Resolves when every batch is on disk and visible. Rejects with the first failure that is not a single record's
   * fault.
   */
  end(): Promise<BulkOutcome>;
  /** Ends the import because the client went away: committed batches stay, the rest is dropped. */
  abort(): void;
}

export interface SyncOutcome extends BulkOutcome {
  /** Number of records that were already stored as their source has them, and were not written. */
  readonly unchanged: number;
  /** Number of records of the source that were removed, because the source no longer lists them. */
  readonly removed: number;
}

/**
 * An import of everything that a source has. When it has ended, the list's records of this source are exactly those. A
 * rejected record stays as it was in the list. Nothing is removed if the import is aborted, or if the name of a record
 * could not be read.
 */
export interface SyncSession {
  /**
   * As `ImportSession.push`. With `commitBytesMax` it resolves when the commit is on disk, so that no commit waits
   * behind another.
   */
  push(chunk: Uint8Array, commitBytesMax?: number): Promise<void>;
  end(): Promise<SyncOutcome>;
  abort(): void;
}

/** How many records of a list's current version have vectors. */
export interface MeaningStatus {
  /**
   * `embedding`: records are being embedded, or an unusable index is being rebuilt. `failing`: the model fails, or the
   * index could not be built; both are retried.
   */
  readonly state: 'off' | 'ready' | 'embedding' | 'failing';
  /** Number of records that have vectors. */
  readonly embedded: number;
  /** Number of records known to be waiting for vectors. */
  readonly pending: number;
  /** Number of records that could not be embedded. */
  readonly failed: number;
  /**
   * The model's last error, the reason why vectors are not searched now, or the most frequent reason of failed records.
   */
  readonly error?: string;
  /** Number of failed records by reason. Absent if none failed. */
  readonly reasons?: Readonly<Record<string, number>>;
}

/** State of the files that a list's records link to. */
export interface ResourcesStatus extends ExtractFigures {
  /** Files that could not be read, newest first. */
  readonly errors: readonly FailedExtract[];
  /** State of the frames of videos, if videos are searched by them. */
  readonly frames?: FrameReading;
}

/** A document that a record links to, with the text that was read from it. */
export interface LinkedText {
  readonly field: string;
  readonly url: string;
  readonly state: ExtractState;
  readonly pageCount: number;
  /** A page whose stored text is damaged has no text. */
  readonly pages: readonly (ReadPage & { readonly isDamaged?: true })[];
  /** True if the document has more pages than these. */
  readonly truncated: boolean;
  readonly fault: ExtractFault | undefined;
}

/** Operations on the files that a list's records link to. */
export interface ListFiles {
  /** Undefined if no record can link to a file, or the list is closed. */
  status(): ResourcesStatus | undefined;
  /** Queues all files, or those that failed, to be read again; resolves to their number. */
  refresh(failedOnly: boolean): Promise<number>;
  /**
   * Queues those of these files that records link to, since they may have changed. They are pending until they have
   * been looked at.
   */
  changed(urls: readonly string[]): Promise<void>;
  /** True if a record links to a file whose URL begins with `prefix`. */
  linksBelow(prefix: string): boolean;
  /** True if a record of the current version links to the file. */
  linksTo(file: FileToRead): boolean;
  /**
   * Returns the text of the documents that the record with this name links to. Rejects with `record-not-found` if there
   * is none.
   */
  texts(name: string, pages: PageRange): Promise<readonly LinkedText[]>;
}

/** What is known about a list, even while its index is being rebuilt. */
export interface ListOutline {
  readonly currentVersion: number;
  versions(): readonly VersionStatus[];
  /** Undefined while the list's index is being rebuilt. */
  meaning(): MeaningStatus | undefined;
  /** State of the files that records link to; undefined if there can be none, or while the index is being rebuilt. */
  resources(): ResourcesStatus | undefined;
}

export interface ListIndex extends ListOutline {
  /** Folder of the list. */
  readonly listPath: string;
  /** Files that the list's records link to. */
  readonly files: ListFiles;
  /** Takes a lease on a version, by default the current one. Throws `version-not-found`. */
  lease(version?: number): GenerationLease;
  /** Picture vectors that a lease of this version would be searched by now; undefined if there are none. */
  picturesSearchedBy(version: number): GenerationSettings['meaning'];
  /** Vectors that a lease of this version would be searched by now; undefined if there are none. */
  searchedBy(version: number): GenerationSettings['meaning'];
  /** Sequence that a lease of this version would have now; undefined if it would be refused, or the list is at rest. */
  sequence(version: number): number | undefined;

  /** Rejects with the record's own ServiceError, or storage-full, overloaded, internal-error. */
  write(request: WriteRequest): Promise<WriteResult>;
  startImport(format: RecordFormat, options?: ImportOptions): ImportSession;
  /** `source`: key that marks records as belonging to this source, such as `feed:news`. */
  startSync(source: string, format: RecordFormat): SyncSession;
  /**
   * Deletes the records that the encoded plan (groups and filter) matches in the current version; returns their number.
   * The column numbers in a plan depend on the definition, so pass a function that makes the plan: it is called when
   * the turn has come. A plan passed as bytes is refused (`overloaded`, to be tried again) if the current version
   * changed while it waited. Deletes nothing if the signal is aborted before the turn comes.
   */
  deleteMatching(
    plan: Uint8Array | ((definition: FieldDefinition) => Uint8Array),
    signal?: Cancellation,
  ): Promise<number>;

  /**
   * Starts building the next version. Resolves with its number once the build is recorded, not when it is ready. A
   * version that was being built is abandoned: derive the definition from the newest of `versions()`. `renames` (`{old:
   * new}`) moves the values of renamed fields.
   */
  changeDefinition(definition: FieldDefinition, renames?: Readonly<Record<string, string>>): Promise<number>;
  /** Publishes new settings of the query planner (language, synonyms, rules, …) at once, as a new generation. */
  applySettings(settings: SearchSettings): Promise<void>;
  /**
   * Writes a copy of the list's catalogue entry into the list's store if it has changed. Never rejects: a failure is
   * logged, and the write is repeated when the list is next opened.
   */
  keepEntry(): Promise<void>;
  /**
   * Rebuilds the index of every version from its records while the list is searched and written. Returns the number of
   * records read. Rejects with `conflict` (already under way), `unprocessable` (names a record that cannot be read),
   * storage-full.
   */
  reindex(): Promise<number>;
  /** Queues the records again that could not be embedded; resolves to their number. */
  retryEmbeddings(): Promise<number>;
  /** Removes some of the outbox rows that are no longer needed, as each write does too. */
  removeToldRows(): Promise<void>;
  /**
   * Compares store and index. Returns the differences; empty if they agree. For the operation `list.check` and the
   * durability test.
   */
  check(): Promise<readonly string[]>;
  /**
   * Runs `end`, which deletes the list, if no record was ever written to it, its fields were never changed, and neither
   * is about to happen. Resolves with whether it did. Meanwhile writes are refused with `reason`, and from then on
   * unless `end` rejects.
   */
  endIfUnwritten(reason: ServiceError, end: () => Promise<void>): Promise<boolean>;
}

/** What a search worker needs to know about a list version. Part of the generation, as JSON. */
export interface SearchSettings {
  readonly account: string;
  readonly list: string;
  readonly language: string;
  readonly synonym_rules: readonly unknown[];
  readonly query_rules: readonly unknown[];
  /** Name of the model that embeds the records' text; none if absent or null. */
  readonly model?: string | null;
  /** Name of the model that embeds the pictures that records link to; none if absent or null. */
  readonly image_model?: string | null;
  /** Name of the model that transcribes recordings; none if absent or null. */
  readonly transcription_model?: string | null;
}

/** `settings` of a published generation, as the search worker parses it. */
export interface GenerationSettings extends SearchSettings {
  readonly version: number;
  readonly definition: FieldDefinition;
  /** Folder of the list, needed to open the record store. */
  readonly listPath: string;
  /** Vectors that the version is searched by; absent if there are none. */
  readonly meaning?: Pick<VectorSpace, 'model' | 'source' | 'modelVersion' | 'calibration'> & {
    readonly dimensions: number;
  };
}

/** A list of the catalogue with the settings to open it with. */
export interface ListedList {
  readonly id: string;
  readonly settings: SearchSettings;
}

/**
 * All lists of the service. The number of open lists is limited: lists that are not used are closed, and using a closed
 * one opens it again.
 */
export interface ListIndexes {
  /**
   * At startup: opens the lists that were used last, and resolves when they are open. Other lists with unfinished work
   * (after a crash or a stop) are then opened one after the other. `listed`: returns all lists that exist at the time
   * of the call. Never rejects: a list that cannot be opened is logged.
   */
  resume(listed: () => Iterable<ListedList>): Promise<void>;
  /**
   * Opens a list, recovering from a crash. Concurrent calls share one opening. If segments are missing, damaged or of
   * another format, the index is rebuilt from the records in the background, and this rejects with `not-ready` until
   * the list is open again (with the option `waitForRebuild` of `ListIndexesOptions`, it waits for that). Rejects with
   * `internal-error` if the rebuild failed, and with `list-missing` if the records are missing; nothing is created in
   * their place.
   */
  open(listId: string, settings: SearchSettings): Promise<ListIndex>;
  /**
   * Closes a list whose store is damaged. Until the next start, or until the disk can read the store again, the list
   * can only be deleted. Returns the error with which every request for it is answered.
   */
  closeDamaged(listId: string, settings: SearchSettings, reason: unknown): ServiceError;
  /** Returns why a list cannot be opened; undefined if no reason is known. */
  refusal(listId: string): ServiceError | undefined;
  /** Returns the index if it is open already: the fast path of a search. */
  opened(listId: string): ListIndex | undefined;
  /**
   * As `opened`, without counting as a use of the list, which would keep it open in the place of one that is searched.
   */
  glance(listId: string): ListIndex | undefined;
  /**
   * As `ListIndex.reindex`. A list that is being rebuilt because it could not be opened is refused as by `open`; if
   * that rebuild failed, it starts anew.
   */
  reindex(listId: string, settings: SearchSettings): Promise<number>;
  /**
   * Also works for a list whose index is being rebuilt, and for a list at rest. Undefined for a list that was not open
   * since the start, and for one that refuses requests (it is being deleted, is damaged, or is being reopened).
   */
  outline(listId: string): ListOutline | undefined;
  /**
   * As `outline`, and also for a list that has been at rest since before the start. Undefined if the list has to be
   * opened to answer, because it may have unfinished work.
   */
  outlineAtRest(listId: string, settings: SearchSettings): Promise<ListOutline | undefined>;
  /**
   * Number of records of the current version, without opening the list. Undefined if it is not known, for example for a
   * list that is about to be opened.
   */
  recordCount(listId: string): number | undefined;
  /**
   * Fingerprint of the store of a list that is closed and has no unfinished work; it changes when the store is written.
   * Undefined for all other lists.
   */
  printAtRest(listId: string): string | undefined;
  create(listId: string, settings: SearchSettings, definition: FieldDefinition): Promise<ListIndex>;
  /** Copies the current version (segments as hard links, records) into a new list. */
  clone(sourceId: string, targetId: string, settings: SearchSettings): Promise<ListIndex>;
  /** Waits for running work, closes the list and deletes its folder. */
  remove(listId: string): Promise<void>;
  /**
   * Removes what was created for a list that did not get into the catalogue. A list whose store says that it was in the
   * catalogue once is kept: the catalogue is then an older copy.
   */
  discard(listId: string): Promise<void>;
  /**
   * Moves unknown folders to `lists/.unknown` and logs that, because only what somebody asked to remove is removed.
   * Known folders that had been moved there are moved back.
   */
  setUnknownAside(known: ReadonlySet<string>): void;
  /** True if a record of the list links to a file whose URL begins with `prefix`. Reads the store of a list at rest. */
  linksBelow(listId: string, prefix: string): boolean;
  /**
   * Sets the reader of the files that records link to; until then they wait. Call it again if the reader supports more
   * than before: lists at rest then look at their files, too.
   */
  useReader(reader: FileReader): void;
  /** Source of the lists' models. */
  readonly models: ListModels;
  /** Sets the source of the lists' models. */
  useModels(models: ListModels): void;
  /** Sets the limit on an account's records, before any list is open. Without it there is none. */
  useQuota(quota: RecordQuota): void;
  close(): Promise<void>;
}
