/**
 * Collects the changes that one commit makes to the links from one version's records to files: which records link to
 * which files, which files have to be read, and which records need their pages indexed. They are written in the
 * transaction of the records. Belongs to one task of one thread.
 */
import type { FieldDefinition } from '../../catalog/index.js';
import {
  attachLane,
  attachQueue,
  extractStore,
  hasContent,
  hasFiles,
  keyOfFile,
  linkedFiles,
  readingLane,
  readingQueue,
  subjectOfRecordPages,
  TRANSCRIPTS_LANE,
  type AttachQueue,
  type ExtractStore,
  type LinkedFile,
  type ReadKind,
  type ReadingQueue,
} from '../../extracts/index.js';
import { decodeRecord, parseFields, type FieldValue, type RecordStore } from '../../records/index.js';

export interface LinkCommitOptions {
  readonly store: RecordStore;
  readonly version: number;
  /** All versions of the list. What is known of a file is removed if none of them links to it. */
  readonly versions: readonly number[];
  readonly definition: FieldDefinition;
  /** Kinds of files that are read. */
  readonly kinds: readonly ReadKind[];
  readonly nowMs: number;
  /** First record number that is new in this commit. */
  readonly firstNewRecord: number;
}

interface Links {
  readonly before: readonly LinkedFile[];
  after: readonly LinkedFile[];
}

/** Returns undefined if the version's records have no links to files that are read. */
export function linkCommit(options: LinkCommitOptions): LinkCommit | undefined {
  return hasFiles(options.definition, options.kinds) ? new LinkCommit(options) : undefined;
}

export class LinkCommit {
  private readonly extracts: ExtractStore;
  private readonly reading: ReadingQueue;
  private readonly attaching: AttachQueue;
  private readonly records = new Map<number, Links>();
  private readonly lane: string;
  /** True if the version has no records yet, so that all its records are written with their links. */
  private readonly isFirst: boolean;

  constructor(private readonly options: LinkCommitOptions) {
    const { store, version, versions } = options;
    this.extracts = extractStore(store).prepare(versions);
    this.reading = readingQueue(store);
    this.attaching = attachQueue(store);
    this.lane = attachLane(version);
    this.isFirst = store.version(version).recordCount() === 0;
  }

  written(recordNumber: number, fields: Readonly<Record<string, FieldValue>>): void {
    const { definition, kinds } = this.options;
    this.linksOf(recordNumber).after = linkedFiles(definition, fields, kinds);
  }

  removed(recordNumber: number): void {
    this.linksOf(recordNumber).after = [];
  }

  /** Writes the changes, inside the transaction. */
  apply(): void {
    const { definition, version } = this.options;
    if (this.isFirst) this.extracts.putScanned(version, definition, Infinity);
    const released = new Set<string>();
    for (const [recordNumber, links] of this.records) this.applyRecord(recordNumber, links, released);
    forgetUnlinked(this.options.store, released, this.options.versions);
  }

  private applyRecord(recordNumber: number, { before, after }: Links, released: Set<string>): void {
    const { version, nowMs } = this.options;
    const keysBefore = new Set(before.map(keyOfFile));
    const keysAfter = new Set(after.map(keyOfFile));
    for (const key of keysBefore) {
      if (keysAfter.has(key)) continue;
      this.extracts.removeLink(version, key, recordNumber);
      released.add(key);
    }
    for (const file of after) this.link(recordNumber, file);
    const isRead = after.some((file) => hasContent(this.extracts.row(keyOfFile(file))));
    if (!isRead) this.attaching.withdraw(this.lane, subjectOfRecordPages(recordNumber));
    else if (isOther(before, after)) this.attaching.put([{ lane: this.lane, item: recordNumber }], nowMs);
  }

  private link(recordNumber: number, { kind, url }: LinkedFile): void {
    const { version, nowMs } = this.options;
    const key = keyOfFile({ kind, url });
    this.extracts.putLink(version, key, recordNumber);
    if (this.extracts.row(key) !== undefined) return;
    this.extracts.put(key, { url, kind, state: 'pending' });
    this.reading.put([{ lane: readingLane({ kind, url }), item: { url, kind, forced: false, postponed: 0 } }], nowMs);
  }

  private linksOf(recordNumber: number): Links {
    let links = this.records.get(recordNumber);
    if (links === undefined) {
      const before = this.linksBefore(recordNumber);
      links = { before, after: before };
      this.records.set(recordNumber, links);
    }
    return links;
  }

  private linksBefore(recordNumber: number): LinkedFile[] {
    const { definition, firstNewRecord, kinds, store, version } = this.options;
    const bytes = recordNumber < firstNewRecord ? store.version(version).record(recordNumber) : undefined;
    return bytes === undefined ? [] : linkedFiles(definition, parseFields(decodeRecord(bytes).fieldsJson), kinds);
  }
}

/**
 * Removes the contents of files that no version links to, and withdraws them from the queues. Call it inside a
 * transaction.
 */
export function forgetUnlinked(store: RecordStore, keys: Iterable<string>, versions: readonly number[]): void {
  const extracts = extractStore(store);
  for (const key of keys) {
    const row = extracts.row(key);
    if (row === undefined || extracts.isLinked(key, versions)) continue;
    for (const lane of [readingLane(row), TRANSCRIPTS_LANE]) readingQueue(store).withdraw(lane, key);
    extracts.remove(key);
  }
}

/** True if the links changed; otherwise the record keeps its pages. */
function isOther(before: readonly LinkedFile[], after: readonly LinkedFile[]): boolean {
  return (
    before.length !== after.length ||
    after.some(({ field, url }, place) => before[place]?.field !== field || before[place].url !== url)
  );
}
