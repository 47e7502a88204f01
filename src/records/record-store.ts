/**
 * Records and names of a list's versions, in its store (`src/store/list-store.ts`):
 *
 *   records-v<N>    record number (u32) → record-codec bytes, packed if many are written at once (`record-words.ts`)
 *   names-v<N>      name (UTF-8; see nameKey) → record number (u32, little-endian)
 */
import { createHash } from 'node:crypto';
import type { Database, RootDatabase } from 'lmdb';
import { RecordPacker } from './record-packer.js';
import { DICTIONARIES_MAX, RecordWords, type WordsStore } from './record-words.js';
import { LIST_STATE_FORMAT_WITH_PACKED_RECORDS, ListStore, SegmentManifest, versionSuffix } from '../store/index.js';

/** Longer names are stored as a prefix and a hash, because LMDB limits the length of keys. */
const NAME_KEY_BYTES_MAX = 1000;
const NAME_KEY_PREFIX_BYTES = 900;
const APPEND = { append: true };
const PLAIN = { append: false };

/**
 * Returns the key of a name. UTF-8 text never contains the byte 0xff, so a shortened name never collides with a short
 * one.
 */
function nameKey(name: string): Buffer {
  const bytes = Buffer.from(name, 'utf8');
  if (bytes.length <= NAME_KEY_BYTES_MAX) return bytes;
  const hash = createHash('sha256').update(bytes).digest();
  return Buffer.concat([bytes.subarray(0, NAME_KEY_PREFIX_BYTES), Buffer.from([0xff]), hash]);
}

function versionOfDatabase(name: string): number | undefined {
  const number = /^[a-z]+-v(\d+)(?:-s\d+|-[a-z]+)?$/u.exec(name)?.[1];
  return number === undefined ? undefined : Number(number);
}

/** Key of the number of dictionaries. */
const WORDS_COUNT = 'words';

function wordsKey(number: number): string {
  return `words-${number}`;
}

/** Range of records to iterate over. */
export interface RecordRange {
  readonly start?: number;
  readonly offset?: number;
  readonly limit?: number;
}

/** Records, names, manifest and deletions of one version. */
export class VersionStore extends SegmentManifest {
  private recordsDb: Database<Buffer, number> | undefined;
  private namesDb: Database<Buffer, Buffer> | undefined;
  private readonly numberBytes = Buffer.alloc(4);

  constructor(
    private readonly root: RootDatabase,
    readonly version: number,
    /** Dictionaries with which its records are packed. */
    readonly words: RecordWords,
    readonly packer: RecordPacker,
  ) {
    super(root, versionSuffix(version));
  }

  // Opening a database takes the write lock for a moment, so readers open only what they need, and never in a
  // transaction.
  get records(): Database<Buffer, number> {
    return (this.recordsDb ??= this.root.openDB({
      name: `records-v${this.version}`,
      encoding: 'binary',
      keyEncoding: 'uint32',
    }));
  }
  get names(): Database<Buffer, Buffer> {
    return (this.namesDb ??= this.root.openDB({
      name: `names-v${this.version}`,
      encoding: 'binary',
      keyEncoding: 'binary',
    }));
  }
  /** Opens all four databases; call it before a transaction that uses them. */
  prepare(): this {
    void [this.records, this.names, this.manifest, this.deletions];
    return this;
  }

  /** Returns the bytes of a record as stored, valid until the next read from any database of this thread. */
  storedRecord(recordNumber: number): Buffer | undefined {
    const bytes = this.records.getBinaryFast(recordNumber);
    // The buffer that lmdb-js reads into is longer than its `length` property.
    return bytes?.subarray(0, bytes.length);
  }

  /** Returns the bytes of a record, unpacked; valid until the next read from any database of this thread. */
  record(recordNumber: number): Buffer | undefined {
    const bytes = this.storedRecord(recordNumber);
    return bytes === undefined ? undefined : this.words.unpacked(bytes);
  }

  /** Yields records in ascending order, unpacked; their bytes are valid until the next one. */
  *range(options: RecordRange = {}): Generator<{ readonly key: number; readonly value: Buffer }> {
    for (const { key, value } of this.records.getRange(options)) yield { key, value: this.words.unpacked(value) };
  }

  /** Number of stored records, without reading them. */
  recordCount(): number {
    return (this.records.getStats() as { readonly entryCount: number }).entryCount;
  }

  /** Undefined for the empty name, which no record has, and which LMDB would treat as no key. */
  recordNumberOfName(name: string): number | undefined {
    if (name === '') return undefined;
    return this.names.getBinaryFast(nameKey(name))?.readUInt32LE(0);
  }

  /**
   * `bytes`: a record, or a buffer that contains it (`PlacedBytes`). `append`: the number is greater than all stored
   * ones, which makes writing faster.
   */
  putRecord(recordNumber: number, bytes: Uint8Array, append = false): void {
    const written = this.records.putSync(recordNumber, bytes as Buffer, append ? APPEND : PLAIN) as unknown;
    // LMDB refuses to append below existing keys, and lmdb-js reports that only here.
    if (written === true) return;
    const [last] = this.records.getKeys({ reverse: true, limit: 1 });
    throw new Error(
      `record ${recordNumber} of version ${this.version} could not be ${append ? 'appended' : 'written'} ` +
        `(${String(written)}): the last one that is there is ${last ?? 'none'}, of ${this.recordCount()}`,
    );
  }
  removeRecord(recordNumber: number): void {
    this.records.removeSync(recordNumber);
  }
  putName(name: string, recordNumber: number): void {
    // LMDB copies the value before this returns, so one buffer is enough.
    this.numberBytes.writeUInt32LE(recordNumber, 0);
    this.names.putSync(nameKey(name), this.numberBytes);
  }
  removeName(name: string): void {
    this.names.removeSync(nameKey(name));
  }

  /**
   * Deletes all databases of the version, including those that others keep beside its records. No thread may use it any
   * more.
   */
  drop(): void {
    this.prepare();
    for (const database of [this.records, this.names, this.manifest, this.deletions]) database.dropSync();
    for (const name of Array.from(this.root.getKeys(), String)) {
      if (versionOfDatabase(name) === this.version) this.root.openDB({ name, encoding: 'binary' }).dropSync();
    }
  }
}

/** The store of a list with the records of its versions. */
export class RecordStore extends ListStore implements WordsStore {
  private readonly versions = new Map<number, VersionStore>();
  /** Dictionaries with which records, and pages of documents, are packed. */
  readonly recordWords = new RecordWords(this);
  private readonly packer = new RecordPacker(this.recordWords);

  version(version: number): VersionStore {
    let store = this.versions.get(version);
    if (store === undefined) {
      store = new VersionStore(this.root, version, this.recordWords, this.packer);
      this.versions.set(version, store);
    }
    return store;
  }
  /** Returns a dictionary by its number. */
  words(number: number): Uint8Array | undefined {
    const stored = this.meta.get(wordsKey(number)) as Uint8Array | undefined;
    // The decoded value may be a view of memory that the next read overwrites.
    return stored === undefined ? undefined : Buffer.from(stored);
  }
  wordsCount(): number | undefined {
    const count = this.meta.get(WORDS_COUNT) as number | undefined;
    if (count !== undefined) return count;
    return (this.state()?.format ?? 0) >= LIST_STATE_FORMAT_WITH_PACKED_RECORDS ? undefined : 0;
  }
  putWords(number: number, dictionary: Uint8Array): void {
    this.meta.putSync(wordsKey(number), dictionary);
    this.meta.putSync(WORDS_COUNT, Math.max(number, this.wordsCount() ?? 0));
    this.raiseFormat(LIST_STATE_FORMAT_WITH_PACKED_RECORDS);
  }
  /**
   * As `raiseFormat`, to a format above that of packed records: from then on the number of dictionaries is always
   * stored, even if it is 0.
   */
  raiseFormatAboveWords(format: number): void {
    const state = this.state();
    if (state === undefined || state.format >= format) return;
    if (state.format < LIST_STATE_FORMAT_WITH_PACKED_RECORDS) this.meta.putSync(WORDS_COUNT, 0);
    this.raiseFormat(format);
  }
  /**
   * Copies the dictionaries of another list, whose packed records are copied, and their number: the number of a lost
   * dictionary must not be reused here either. If the number is lost there, it is lost here, too, because the state of
   * the copy, which is written later, has the other's format.
   */
  copyWords(from: RecordStore): void {
    for (let number = 1; number <= DICTIONARIES_MAX; number += 1) {
      const dictionary = from.words(number);
      if (dictionary !== undefined) this.meta.putSync(wordsKey(number), dictionary);
    }
    const count = from.wordsCount();
    if (count !== undefined) this.meta.putSync(WORDS_COUNT, count);
  }

  /** Returns the versions that have databases here, whether or not the state names them. */
  versionsOnDisk(): number[] {
    const numbers = new Set<number>();
    for (const key of this.root.getKeys()) {
      const number = versionOfDatabase(String(key));
      if (number !== undefined) numbers.add(number);
    }
    return [...numbers];
  }
  forgetVersion(version: number): void {
    this.versions.delete(version);
  }

  override async close(): Promise<void> {
    this.versions.clear();
    await super.close();
  }
}
