/**
 * Records of the lists of one search, read by number. A record that a writer removed since the generation was published
 * is undefined: its hit is left out. Belongs to one thread.
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
  /** Views that are good until the next read; undefined also for a record that is damaged. */
  read(list: ListContext, recordNumber: number): RecordParts | undefined;
  /** The same, and what is to be told of a damaged one. */
  readOrDamage(list: ListContext, recordNumber: number): RecordParts | DamagedRecord | undefined;
  /** A record as it is on disk, perhaps packed by the words of the list; likewise. */
  stored(list: ListContext, recordNumber: number): Buffer | undefined;
  wordsOf(list: ListContext): RecordWords;
  /** What was read of a file that records of the list link to; undefined where nothing was. */
  readPage(list: ListContext, url: string, page: number): PageOfDocument | undefined;
  /** The same of a recording: what is said in one of its passages, none where it has no such passage any more. */
  readPassage(list: ListContext, file: FileToRead<RecordingKind>, place: number): Passage | undefined;
  /** Where a video has what a vector of a record with these fields is of; undefined where a picture has it. What `read` returned is not good any more. */
  readFrame(list: ListContext, fields: Readonly<Record<string, unknown>>, place: number): SeenAt | undefined;
  /** What became of the files that a record with these fields links to. What `read` returned is not good any more. */
  readResources(list: ListContext, fields: Readonly<Record<string, unknown>>): readonly ReadResource[];
}

/** As an explanation tells it. */
export interface ReadResource {
  readonly field: string;
  readonly url: string;
  readonly state: 'pending' | 'read' | 'failed';
  /** Of a document. */
  readonly page_count?: number;
  /** Of a recording; null where it does not say how long it is. */
  readonly duration_seconds?: number | null;
  readonly error?: string;
  readonly detail?: string;
  /** Of a video: what is to be seen in it; absent where its frames are not read. */
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

  /** The next read of each list sees the last commit; no snapshot is held until then. */
  release(): void {
    this.current = undefined;
    // Refreshing a store lets go of the snapshot that its reads held.
    for (const listPath of this.used) this.stores.refresh(listPath);
    this.used.clear();
  }
}
