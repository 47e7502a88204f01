/**
 * The write side of lists as the main thread sees it: what can be asked of an ingest worker, and what it answers.
 *
 * One list has one writer at a time: `ListIndexes` keeps a queue per list and gives an ingest worker one task of a list
 * after the other (a long merge runs beside them and only its commit takes the queue). A task ends with one LMDB
 * transaction that holds records, manifest and deletions; when it is on disk the worker answers, the main thread publishes the
 * new generation to the kernel, and only then the writer's request is answered.
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
  /** Records that have a value which did not fit the definition when the version was built, by field. */
  readonly unfit?: Readonly<Record<string, number>>;
}

/** A generation that stays valid until released. Take one per search, release it in a finally block. */
export interface GenerationLease {
  readonly handle: GenerationHandle;
  /** Changes with every publication: the key of caches. */
  readonly sequence: number;
  readonly version: number;
  readonly definition: FieldDefinition;
  /** The same records, to be searched by the vectors of their pictures; undefined where there are none. */
  readonly pictures: { readonly handle: GenerationHandle } | undefined;
  release(): void;
}

export type RecordBodyInput = Readonly<Record<string, unknown>>;

/** `asOf`: ISO 8601 date or date-time with a zone; the time of the write when absent. */
interface WriteBody {
  readonly name: string | undefined;
  readonly fields: RecordBodyInput;
  readonly asOf?: string | undefined;
  /** Only for lists whose records bring their vectors. Null removes them; undefined: none are given. */
  readonly vectors?: GivenVectors | undefined;
  /** Who writes does not reach media stores: the record has the links into these that it had (`out-of-scope`). */
  readonly keepsLinks?: boolean;
}

interface ChangedRecord {
  readonly id: string;
  /** Who writes may read records, too: where none has the id, `record-not-found` says the id of the one that has it for its name. */
  readonly reads?: boolean;
}

export type WriteRequest =
  /** Adds, or replaces by name; `id`: of the record that was read and is sent back (`conflict` where another has the id or the name). */
  | (WriteBody & { readonly kind: 'put'; readonly id?: string })
  /** Replaces the record with this id; a new name renames it (`name-exists` where it is taken). */
  | (WriteBody & ChangedRecord & { readonly kind: 'replace' })
  /** Sets the given fields, removes those that are null. */
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
  /** At most `bulk_errors_max` of them (the count in `failed` is exact). */
  readonly errors: readonly { readonly line: number; readonly name: string | null; readonly detail: string }[];
}

export interface ImportOptions {
  /** As of a write. */
  readonly keepsLinks?: boolean;
  /** Field by whose value a record is named that brings no name. */
  readonly nameFrom?: string;
  /** Records change those of their names, and make none. */
  readonly patch?: boolean;
}

/** A streaming import. Feed chunks as they arrive; `push` resolves when more may come (backpressure). */
export interface ImportSession {
  /** `commitBytesMax`: so many bytes of records are committed at a time, where that is less than a commit takes. */
  push(chunk: Uint8Array, commitBytesMax?: number): Promise<void>;
  /** Resolves when no batch is at work or waits for its turn; never rejects. */
  committed(): Promise<void>;
  /** Resolves when every batch is on disk and visible. Rejects with the first failure that is not a record's own fault. */
  end(): Promise<BulkOutcome>;
  /** The client went away: what was committed stays, the rest is dropped. */
  abort(): void;
}

export interface SyncOutcome extends BulkOutcome {
  /** Records that are as their source has them, and were not written. */
  readonly unchanged: number;
  /** Records of the source that it does not list any more. */
  readonly removed: number;
}

/**
 * All that a source has, told once: when it has ended, the list has of this source exactly that. A record that is refused stays as it
 * was. Broken off, or where a record has no name that can be read, nothing is removed.
 */
export interface SyncSession {
  /** As that of an ImportSession; with `commitBytesMax` it resolves when what it commits is on disk, so that no commit waits behind another. */
  push(chunk: Uint8Array, commitBytesMax?: number): Promise<void>;
  end(): Promise<SyncOutcome>;
  abort(): void;
}

/** How much of a list's current version has vectors. */
export interface MeaningStatus {
  /**
   * `embedding`: also while an index that could not be used is made again. `failing`: the model does not do what it is asked for, or the index
   * could not be made; both are tried again.
   */
  readonly state: 'off' | 'ready' | 'embedding' | 'failing';
  /** Records that have vectors. */
  readonly embedded: number;
  /** Records that will have, as far as is known. */
  readonly pending: number;
  /** Records that could not be embedded. */
  readonly failed: number;
  /** What the model complained of last, why no vectors are searched now, or the most frequent reason of what failed. */
  readonly error?: string;
}

/** What became of the files that a list's records link to. */
export interface ResourcesStatus extends ExtractFigures {
  /** Those that could not be read, the newest first. */
  readonly errors: readonly FailedExtract[];
  /** Where videos are searched by what is to be seen in them. */
  readonly frames?: FrameReading;
}

/** A document that a record links to, with what was read of it. */
export interface LinkedText {
  readonly field: string;
  readonly url: string;
  readonly state: ExtractState;
  readonly pageCount: number;
  /** Without a text where that cannot be read. */
  readonly pages: readonly (ReadPage & { readonly isDamaged?: true })[];
  /** There is more in it than these pages. */
  readonly truncated: boolean;
  readonly fault: ExtractFault | undefined;
}

/** What can be asked of the files that a list's records link to. */
export interface ListFiles {
  /** Undefined where no record can link to one, or the list is closed. */
  status(): ResourcesStatus | undefined;
  /** Has them read again, or those that failed; resolves with how many. */
  refresh(failedOnly: boolean): Promise<number>;
  /** These may have changed: those that records link to are looked at soon, and pending until then. */
  changed(urls: readonly string[]): Promise<void>;
  /** Whether records link to one whose URL begins so. */
  linksBelow(prefix: string): boolean;
  /** Whether records of the current version link to it. */
  linksTo(file: FileToRead): boolean;
  /** What was read of the documents of a record; undefined where there is none of that name. */
  texts(name: string, pages: PageRange): Promise<readonly LinkedText[]>;
}

/** What is known of a list also while its index is being rebuilt. */
export interface ListOutline {
  readonly currentVersion: number;
  versions(): readonly VersionStatus[];
  /** Undefined while the list's index is being rebuilt. */
  meaning(): MeaningStatus | undefined;
  /** What became of the files that records link to; undefined where none can, or while the index is being rebuilt. */
  resources(): ResourcesStatus | undefined;
}

export interface ListIndex extends ListOutline {
  /** Its folder. */
  readonly listPath: string;
  /** The files that its records link to. */
  readonly files: ListFiles;
  /** Undefined version: the current one. Throws `version-not-found`. */
  lease(version?: number): GenerationLease;
  /** What pictures a lease of this version would be searched by now; undefined where there are none. */
  picturesSearchedBy(version: number): GenerationSettings['meaning'];
  /** The vectors that a lease of this version would be searched by now; undefined where there are none. */
  searchedBy(version: number): GenerationSettings['meaning'];
  /** The sequence that a lease of this version would have now; undefined where it would be refused. */
  sequence(version: number): number | undefined;

  /** Rejects with the record's own ServiceError, or storage-full, overloaded, internal-error. */
  write(request: WriteRequest): Promise<WriteResult>;
  startImport(format: RecordFormat, options?: ImportOptions): ImportSession;
  /** `source`: by which the records are known as those of this source, such as `feed:news`. */
  startSync(source: string, format: RecordFormat): SyncSession;
  /**
   * Deletes what the encoded plan (groups and filter) matches in the current version; returns how many. A plan numbers
   * columns by its definition, so give a function that makes it: it is called when the turn has come. Finished bytes are
   * refused (`overloaded`, to be tried again) where the current version changed while they waited. Nothing is deleted where the
   * signal is aborted before the turn comes.
   */
  deleteMatching(
    plan: Uint8Array | ((definition: FieldDefinition) => Uint8Array),
    signal?: Cancellation,
  ): Promise<number>;

  /**
   * Starts building the next version; resolves with its number once the build is recorded, not when it is ready. One that
   * was being built is given up: derive the definition from the newest of `versions()`. `renames` (`{old: new}`) moves the
   * values of renamed fields along.
   */
  changeDefinition(definition: FieldDefinition, renames?: Readonly<Record<string, string>>): Promise<number>;
  /** Settings of the planner (language, synonyms, rules, …): published at once as a new generation. */
  applySettings(settings: SearchSettings): Promise<void>;
  /**
   * Writes what the catalogue has of the list beside its records, where that differs. Never rejects: what fails is logged
   * and made up for when the list is opened again.
   */
  keepEntry(): Promise<void>;
  /**
   * Makes the index of every version anew from its records while the list is searched and written; returns how many records
   * were read. Rejects with `conflict` (under way already), `unprocessable` (names a record that cannot be read), storage-full.
   */
  reindex(): Promise<number>;
  /** What could not be embedded is tried again; resolves with how many records that is. */
  retryEmbeddings(): Promise<number>;
  /** Removes some of the rows of events that need not stay, which a write does beside what it writes. */
  removeToldRows(): Promise<void>;
  /** Compares store and index; empty when they agree. For the operation `list.check` and the durability test. */
  check(): Promise<readonly string[]>;
}

/** What a search worker needs to know about a list version; travels inside the generation as JSON. */
export interface SearchSettings {
  readonly account: string;
  readonly list: string;
  readonly language: string;
  readonly synonym_rules: readonly unknown[];
  readonly query_rules: readonly unknown[];
  /** Name of the model whose vectors the records have; none where it is left out. */
  readonly model?: string | null;
  /** Name of what makes vectors of the pictures that records link to; none where it is left out. */
  readonly image_model?: string | null;
  /** Name of the model that writes down what is said in recordings; none where it is left out. */
  readonly transcription_model?: string | null;
}

/** `settings` of a published generation, as the search worker parses it. */
export interface GenerationSettings extends SearchSettings {
  readonly version: number;
  readonly definition: FieldDefinition;
  /** Folder of the list, for the record store. */
  readonly listPath: string;
  /** What vectors the version is searched by; absent where it has none. */
  readonly meaning?: Pick<VectorSpace, 'model' | 'source' | 'modelVersion' | 'calibration'> & {
    readonly dimensions: number;
  };
}

/** A list of the catalogue, with what it is opened with. */
export interface ListedList {
  readonly id: string;
  readonly settings: SearchSettings;
}

/**
 * No more lists are open than there is room for: those that nobody asks for are closed, and whoever still has one has it opened again
 * by using it.
 */
export interface ListIndexes {
  /**
   * At a start: opens the lists that were used last, and resolves when they are. Others that a crash or a stop left something to do in
   * are opened one after the other behind that. `listed`: all lists that there are, whenever it is called. Never rejects: a list
   * that cannot be opened is logged.
   */
  resume(listed: () => Iterable<ListedList>): Promise<void>;
  /**
   * Opens (recovering what a crash left) or throws. Concurrent calls share one opening. Where segments are of another
   * format, missing or damaged, the index is rebuilt from the records in the background, and until the list is open again
   * this rejects with `not-ready` (with `waitForRebuild`: resolves then). Rejects with `internal-error` where the rebuild failed,
   * and with `list-missing` where there are no records: nothing is made in their place.
   */
  open(listId: string, settings: SearchSettings): Promise<ListIndex>;
  /**
   * Closes a list whose store is damaged; nothing but deleting it is possible until the next start, or until the disk that could not read it can. Returns what every request for
   * it is answered with.
   */
  closeDamaged(listId: string, settings: SearchSettings, reason: unknown): ServiceError;
  /** Why a list is not opened; undefined where nothing is known that speaks against it. */
  refusal(listId: string): ServiceError | undefined;
  /** The index if it is open already: the fast path of a search. */
  opened(listId: string): ListIndex | undefined;
  /** The same for who only looks at what is open: that is no use of it, by which it would stay open in the place of one that is searched. */
  glance(listId: string): ListIndex | undefined;
  /**
   * As `ListIndex.reindex`. A list that is being rebuilt because it could not be opened is refused as `open` does, and one
   * where that failed is begun anew.
   */
  reindex(listId: string, settings: SearchSettings): Promise<number>;
  /**
   * Also of a list whose index is being rebuilt, and of one at rest. Undefined for one that was not open since the start, and for one that refuses
   * whoever asks (it is being deleted, is damaged, or is being opened anew).
   */
  outline(listId: string): ListOutline | undefined;
  /**
   * The same, also of one that was closed at rest before the start. Undefined where it has to be opened for that: it is not known to
   * have nothing to do.
   */
  outlineAtRest(listId: string, settings: SearchSettings): Promise<ListOutline | undefined>;
  /** Records of the current version, without opening the list. Undefined where that is not known, as of a list that is about to be opened. */
  recordCount(listId: string): number | undefined;
  /** Of the store of a list that is closed and has nothing left to do: another one once it was written to. Undefined for all others. */
  printAtRest(listId: string): string | undefined;
  create(listId: string, settings: SearchSettings, definition: FieldDefinition): Promise<ListIndex>;
  /** Copies the current version (segments as hard links, records) into a new list. */
  clone(sourceId: string, targetId: string, settings: SearchSettings): Promise<ListIndex>;
  /** Waits for running work, closes and deletes the folder. */
  remove(listId: string): Promise<void>;
  /**
   * Removes what was made of a list that did not come into the catalogue. One that did once, as its store says, stays: then
   * the catalogue is an older copy.
   */
  discard(listId: string): Promise<void>;
  /**
   * Moves folders that nobody knows to `lists/.unknown` and says so in the log: nothing is removed that nobody asked to
   * remove. Those that are known and had been moved there come back.
   */
  setUnknownAside(known: ReadonlySet<string>): void;
  /** Whether records of the list link to a file whose URL begins so; also of one at rest, whose store is read for it. */
  linksBelow(listId: string, prefix: string): boolean;
  /** What reads the files that records link to, from now on; until then they wait. Said again where it reads more than it did: lists at rest look, too. */
  useReader(reader: FileReader): void;
  /** Where the models of lists come from. */
  readonly models: ListModels;
  /** Where they come from, from now on. */
  useModels(models: ListModels): void;
  /** Who says how many records an account may have, before any list is open. Nobody: as many as it likes. */
  useQuota(quota: RecordQuota): void;
  close(): Promise<void>;
}
