/**
 * Packs the records of commits by the words of their list, and learns these: a dictionary from the first commit that is large enough, and another
 * where what comes is unlike what was there. Belongs to one thread.
 */
import { kernel } from '../../native-bindings/index.js';
import { DICTIONARIES_MAX, type Dictionary, type RecordWords } from './record-words.js';

/** A commit of fewer records leaves them as they are: the table of the words takes longer to make than to write them. */
const PACKED_RECORDS_MIN = 100;
/** What words are learned from, at least and at most. */
const LEARNED_RECORDS_MIN = 1000;
const LEARNED_BYTES_MIN = 256 * 1024;
const LEARNED_BYTES_MAX = 4 * 1024 * 1024;
/** A new dictionary has to make the records it is learned from, itself included, by this part smaller than those that are there do. */
const SAVED_SHARE_MIN = 0.1;
/** Fields that are packed to less than this part are packed well: others are not looked for. */
const PACKED_WELL_SHARE = 0.35;
/** So many records tell by which dictionary those of a commit are packed best. */
const SAMPLE_RECORDS = 200;

/** Records that lie one behind the other. */
export interface PackedBatch {
  readonly bytes: Uint8Array;
  /** Where the fields of each begin; its end where it is not to be packed. */
  readonly fields: Uint32Array;
  /** Where each ends; after packing, where it ends then. */
  readonly ends: Uint32Array;
  readonly fieldsBytes: number;
}

export class RecordPacker {
  /** The dictionary of the last commit, and to which part of themselves it packed fields. */
  private last: { readonly number: number; readonly share: number } | undefined;
  /** Learned by a commit that may not be on disk yet: those of another version that the same commit writes are packed by it, too. */
  private learned: Dictionary | undefined;
  /** Of fields that were not packed well; and how many there are to be before words are learned again. */
  private unlikeBytes = 0;
  private learnAtBytes = 0;

  constructor(private readonly words: RecordWords) {}

  /** Packs the records of a commit where they lie. Returns a dictionary that is to be written with them. */
  pack(batch: PackedBatch): Dictionary | undefined {
    if (batch.ends.length < PACKED_RECORDS_MIN || batch.fieldsBytes === 0) return undefined;
    const count = this.words.count();
    // Of a list that has lost how many it had, none is learned: it could get the number of one by which records are packed.
    if (count === undefined) return undefined;
    const best = this.bestOf(batch, count);
    const share = best?.share ?? 1;
    const learned = this.isToLearn(batch, share, count) ? this.learnedFrom(batch, share, count + 1) : undefined;
    const dictionary = learned ?? best;
    const packedShare = dictionary === undefined ? 1 : packInPlace(batch, dictionary);
    if (dictionary !== undefined) this.last = { number: dictionary.number, share: packedShare };
    if (packedShare > PACKED_WELL_SHARE) this.unlikeBytes += batch.fieldsBytes;
    return learned;
  }

  /** The dictionary that packs these best, and to which part of themselves. */
  private bestOf(batch: PackedBatch, count: number): (Dictionary & { readonly share: number }) | undefined {
    const whole = this.words.whole(count);
    const [{ last }, [only]] = [this, whole];
    if (only !== undefined && only.number === last?.number && whole.length === 1) {
      if (last.share <= PACKED_WELL_SHARE || !this.isDue(batch, count)) return { ...only, share: last.share };
    }
    const sample = firstOf(batch, SAMPLE_RECORDS);
    return whole
      .map((dictionary) => ({ ...dictionary, share: shareOfCopy(sample, dictionary) }))
      .sort((left, right) => left.share - right.share)[0];
  }

  private isToLearn(batch: PackedBatch, share: number, count: number): boolean {
    if (share <= PACKED_WELL_SHARE || count >= DICTIONARIES_MAX) return false;
    if (batch.ends.length < LEARNED_RECORDS_MIN || batch.fieldsBytes < LEARNED_BYTES_MIN) return false;
    return this.learned?.number === count + 1 || this.isDue(batch, count);
  }

  /** How many there are says what is due where the store was opened anew: else one that is opened again and again would learn each time. */
  private isDue(batch: PackedBatch, count: number): boolean {
    return this.unlikeBytes + batch.fieldsBytes >= Math.max(this.learnAtBytes, LEARNED_BYTES_MIN * 2 ** count);
  }

  /** Undefined where words of these are not worth a place. `share`: to which part those that are there pack these. */
  private learnedFrom(batch: PackedBatch, share: number, number: number): Dictionary | undefined {
    // Of a commit that failed, or of another version that the same commit writes.
    if (this.learned?.number === number) return this.learned;
    // The next time when there is twice as much.
    this.learnAtBytes = 2 * (this.unlikeBytes + batch.fieldsBytes);
    const sample = firstOf(batch, Math.ceil((batch.ends.length * LEARNED_BYTES_MAX) / batch.bytes.length));
    const words = kernel.learnWords(sample.bytes, sample.fields, sample.ends);
    if (words.length === 0) return undefined;
    const bytes = shareOfCopy(sample, { number, words }) * sample.fieldsBytes + words.length;
    if (bytes > share * sample.fieldsBytes * (1 - SAVED_SHARE_MIN)) return undefined;
    return (this.learned = { number, words });
  }
}

/** Returns to which part of themselves the fields are packed. */
export function packInPlace({ bytes, fields, ends, fieldsBytes }: PackedBatch, { number, words }: Dictionary): number {
  const saved = bytes.length - kernel.packRecords(words, number, bytes, fields, ends);
  return fieldsBytes === 0 ? 1 : 1 - saved / fieldsBytes;
}

/** The same, of a copy: the batch stays as it is. */
export function shareOfCopy(batch: PackedBatch, dictionary: Dictionary): number {
  return packInPlace({ ...batch, bytes: Uint8Array.from(batch.bytes), ends: batch.ends.slice() }, dictionary);
}

function firstOf(batch: PackedBatch, count: number): PackedBatch {
  if (count >= batch.ends.length) return batch;
  const [fields, ends] = [batch.fields.subarray(0, count), batch.ends.subarray(0, count)];
  const bytes = batch.bytes.subarray(0, ends[count - 1]);
  let fieldsBytes = 0;
  for (const [index, end] of ends.entries()) fieldsBytes += end - (fields[index] as number);
  return { bytes, fields, ends, fieldsBytes };
}
