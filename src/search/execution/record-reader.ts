/**
 * Reads records of the lists of one search by record number. A record that a writer removed after the generation was
 * published is undefined, and its hit is left out. Belongs to one thread.
 */
import {
  extractStore,
  frameAt,
  linkedTexts,
  seenFiles,
  type ExtractRow,
  type FileToRead,
  type PageOfDocument,
  type Passage,
  type RecordingKind,
  type SeenAt,
} from '../../extracts/index.js';
import {
  DamagedRecord,
  readRecord,
  type RecordParts,
  type RecordStore,
  type RecordStoreCache,
  type RecordWords,
  type VersionStore,
} from '../../records/index.js';
import type { ListContext } from './list-context.js';

export interface RecordReader {
  /** Returns views that are valid until the next read. Undefined also if the record is damaged. */
  read(list: ListContext, recordNumber: number): RecordParts | undefined;
  /** Like `read`, but returns a DamagedRecord for a damaged one. */
  readOrDamage(list: ListContext, recordNumber: number): RecordParts | DamagedRecord | undefined;
  /** Returns a record's bytes as on disk, perhaps packed with the list's words. Valid until the next read. */
  stored(list: ListContext, recordNumber: number): Buffer | undefined;
  wordsOf(list: ListContext): RecordWords;
  /** Returns a page of a file that records of the list link to. Undefined if it was not read. */
  readPage(list: ListContext, url: string, page: number): PageOfDocument | undefined;
  /**
   * Like `readPage` for a recording: returns the cues of a passage. Undefined if the recording no longer has that
   * passage.
   */
  readPassage(list: ListContext, file: FileToRead<RecordingKind>, place: number): Passage | undefined;
  /**
   * Returns which video, and which second of it, a vector of the record belongs to. Undefined if the vector is of a
   * picture. Invalidates what `read` returned.
   */
  readFrame(list: ListContext, fields: Readonly<Record<string, unknown>>, place: number): SeenAt | undefined;
  /** Returns the state of the files that a record with these fields links to. Invalidates what `read` returned. */
  readResources(list: ListContext, fields: Readonly<Record<string, unknown>>): readonly ReadResource[];
}

/** State of a linked file, as an explanation reports it. */
export interface ReadResource {
  readonly field: string;
  readonly url: string;
  readonly state: 'pending' | 'read' | 'failed';
  /** Number of pages of a document. */
  readonly page_count?: number;
  /** Length of a recording; null if the file does not say it. */
  readonly duration_seconds?: number | null;
  readonly error?: string;
  readonly detail?: string;
  /** Frames of a video. Absent if its frames are not read. */
  readonly frames?: {
    readonly state: 'pending' | 'read' | 'failed';
    readonly count: number;
    readonly error?: string;
    readonly detail?: string;
  };
}

function framesOf(row: ExtractRow | undefined): Pick<ReadResource, 'frames'> {
  if (row === undefined) return {};
  const { state, frames, fault } = row;
  const failure = fault === undefined ? {} : { error: fault.error, detail: fault.detail };
  return { frames: { state, count: frames?.count ?? 0, ...failure } };
}

export class StoreRecordReader implements RecordReader {
  private readonly used = new Set<string>();
  private current:
    { readonly list: ListContext; readonly store: RecordStore; readonly records: VersionStore } | undefined;

  constructor(private readonly stores: RecordStoreCache) {}

  read(list: ListContext, recordNumber: number): RecordParts | undefined {
    const read = this.readOrDamage(list, recordNumber);
    return read instanceof DamagedRecord ? undefined : read;
  }

  readOrDamage(list: ListContext, recordNumber: number): RecordParts | DamagedRecord | undefined {
    const bytes = this.storeOf(list).records.record(recordNumber);
    return bytes === undefined ? undefined : readRecord(bytes);
  }

  stored(list: ListContext, recordNumber: number): Buffer | undefined {
    return this.storeOf(list).records.storedRecord(recordNumber);
  }

  wordsOf(list: ListContext): RecordWords {
    return this.storeOf(list).records.words;
  }

  readPage(list: ListContext, url: string, page: number): PageOfDocument | undefined {
    return extractStore(this.storeOf(list).store).page(url, page);
  }

  readPassage(list: ListContext, file: FileToRead<RecordingKind>, place: number): Passage | undefined {
    return extractStore(this.storeOf(list).store).passage(file, place);
  }

  readFrame(list: ListContext, fields: Readonly<Record<string, unknown>>, place: number): SeenAt | undefined {
    const extracts = extractStore(this.storeOf(list).store);
    return frameAt(extracts, seenFiles(extracts, list.settings.definition, fields), place);
  }

  readResources(list: ListContext, fields: Readonly<Record<string, unknown>>): ReadResource[] {
    const extracts = extractStore(this.storeOf(list).store);
    return linkedTexts(list.settings.definition, fields).map(({ field, kind, url }) => {
      const { state = 'pending', text, recording, fault } = extracts.outline({ kind, url }) ?? {};
      const failure = fault === undefined ? {} : { error: fault.error, detail: fault.detail };
      const length =
        kind === 'document' ? { page_count: text?.pageCount ?? 0 } : { duration_seconds: recording?.duration ?? null };
      const seen = kind === 'video' ? framesOf(extracts.outline({ kind: 'frames', url })) : {};
      return { field, url, state, ...length, ...failure, ...seen };
    });
  }

  private storeOf(list: ListContext): { readonly store: RecordStore; readonly records: VersionStore } {
    if (this.current?.list !== list) {
      const { listPath, version } = list.settings;
      this.used.add(listPath);
      const store = this.stores.get(listPath);
      this.current = { list, store, records: store.version(version) };
    }
    return this.current;
  }

  /** Ends the reads of a search: the next read of each list sees the last commit. No snapshot is held until then. */
  release(): void {
    this.current = undefined;
    // Refreshing a store releases the snapshot that its reads held.
    for (const listPath of this.used) this.stores.refresh(listPath);
    this.used.clear();
  }
}
