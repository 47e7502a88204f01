/**
 * The segments of an index and their deleted documents, in two databases of a list's store:
 *
 *   manifest-<suffix>    segment number → SegmentEntry
 *   deletions-<suffix>   [segment number, chunk of 4096 documents] → 512 bytes, one bit per document
 *
 * Thread-safety: as that of the store.
 */
import type { Database, RootDatabase } from 'lmdb';
import type { SegmentEntry } from './list-state.js';

const DELETION_CHUNK_DOCUMENTS = 4096;
const DELETION_CHUNK_BYTES = DELETION_CHUNK_DOCUMENTS / 8;

export class SegmentManifest {
  private manifestDb: Database<SegmentEntry, number> | undefined;
  private deletionsDb: Database<Buffer, [number, number]> | undefined;

  constructor(
    private readonly environment: RootDatabase,
    private readonly suffix: string,
  ) {}

  // Opening a database takes the write lock for a moment, so the first use must be outside a transaction.
  get manifest(): Database<SegmentEntry, number> {
    return (this.manifestDb ??= this.environment.openDB({ name: `manifest-${this.suffix}`, encoding: 'msgpack' }));
  }
  get deletions(): Database<Buffer, [number, number]> {
    return (this.deletionsDb ??= this.environment.openDB({ name: `deletions-${this.suffix}`, encoding: 'binary' }));
  }

  segments(): { id: number; entry: SegmentEntry }[] {
    return Array.from(this.manifest.getRange(), ({ key, value }) => ({ id: key, entry: value }));
  }

  /** Returns the deleted documents of a segment as one bitmap; undefined if there are none. */
  deletedDocuments(segment: number, documentCount: number): Uint8Array | undefined {
    let bitmap: Uint8Array | undefined;
    for (const { key, value } of this.deletions.getRange({ start: [segment, 0], end: [segment + 1, 0] })) {
      bitmap ??= new Uint8Array(Math.ceil(documentCount / DELETION_CHUNK_DOCUMENTS) * DELETION_CHUNK_BYTES);
      bitmap.set(value, key[1] * DELETION_CHUNK_BYTES);
    }
    return bitmap?.subarray(0, Math.ceil(documentCount / 8));
  }

  /**
   * Marks documents as deleted, inside a transaction. The cost is proportional to the number of documents: only their
   * chunks are written.
   */
  addDeletions(segment: number, documents: Iterable<number>): void {
    const chunks = new Map<number, Uint8Array>();
    let added = 0;
    for (const document of documents) {
      const chunk = Math.floor(document / DELETION_CHUNK_DOCUMENTS);
      let bitmap = chunks.get(chunk);
      if (bitmap === undefined) {
        const stored = this.deletions.getBinary([segment, chunk]);
        bitmap = stored === undefined ? new Uint8Array(DELETION_CHUNK_BYTES) : Uint8Array.from(stored);
        chunks.set(chunk, bitmap);
      }
      const at = document % DELETION_CHUNK_DOCUMENTS;
      const bit = 1 << (at & 7);
      const byte = bitmap[at >> 3] as number;
      if ((byte & bit) === 0) added += 1;
      bitmap[at >> 3] = byte | bit;
    }
    for (const [chunk, bitmap] of chunks) this.deletions.putSync([segment, chunk], Buffer.from(bitmap.buffer));
    const entry = this.manifest.get(segment);
    if (entry === undefined) throw new Error(`segment ${segment} is not in the manifest`);
    this.manifest.putSync(segment, { ...entry, deletedCount: entry.deletedCount + added });
  }

  removeSegment(segment: number): void {
    this.manifest.removeSync(segment);
    for (const key of Array.from(this.deletions.getKeys({ start: [segment, 0], end: [segment + 1, 0] }))) {
      this.deletions.removeSync(key);
    }
  }
}
