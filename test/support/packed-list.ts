/** Words and packed records of a list's store, in memory. */
import { recordId } from '../../src/platform/index.js';
import { RecordBatch, RecordPacker, RecordWords, type Dictionary, type StoredRecord } from '../../src/records/index.js';

export function storedRecord(number: number, fields: unknown): StoredRecord {
  return {
    id: recordId(number, 0),
    name: `r${number}`,
    nameGenerated: false,
    asOf: '1970-01-01T00:00:00.000Z',
    createdMs: 0,
    modifiedMs: 0,
    fieldsJson: JSON.stringify(fields),
  };
}

export class PackedList {
  readonly words: RecordWords;
  private readonly packer: RecordPacker;

  /** `kept` has the dictionaries on disk, `count` the number of learned ones; undefined if that is lost. */
  constructor(
    readonly kept = new Map<number, Uint8Array>(),
    public count: number | undefined = kept.size,
  ) {
    this.words = new RecordWords({
      words: (number) => kept.get(number),
      wordsCount: () => this.count,
      putWords: (number, dictionary) => {
        kept.set(number, dictionary);
        this.count = number;
      },
    });
    this.packer = new RecordPacker(this.words);
  }

  /** Returns what a commit would write. */
  pack(records: readonly StoredRecord[]): { readonly bytes: Buffer[]; readonly learned: Dictionary | undefined } {
    const batch = new RecordBatch();
    const places = records.map((record) => batch.add(record));
    const learned = this.packer.pack(batch.packable());
    return { learned, bytes: places.map((place) => placedBytes(batch, place)) };
  }

  /** Packs and writes records. */
  write(records: readonly StoredRecord[]): Buffer[] {
    const { bytes, learned } = this.pack(records);
    if (learned !== undefined) this.words.putLearned(learned);
    return bytes;
  }

  /** Returns a record in the short format, or unchanged if it cannot be read. */
  unpacked(bytes: Uint8Array): Buffer {
    return Buffer.from(this.words.unpacked(Buffer.from(bytes)));
  }
}

/** Returns a copy of the bytes that the store would receive. */
function placedBytes(batch: RecordBatch, place: number): Buffer {
  const { buffer, start, end } = batch.placed(place);
  return Buffer.from(buffer.slice(start, end));
}
