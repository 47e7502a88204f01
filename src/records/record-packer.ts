/**
 * Packs the records of commits with dictionaries of the list's words, and learns these: the first from the first commit
 * that is large enough, others when new records differ from the earlier ones. Belongs to one thread.
 */
import { kernel } from '../../native-bindings/index.js';
import { DICTIONARIES_MAX, type Dictionary, type RecordWords } from './record-words.js';

/** A smaller commit is not packed: building the tables of a dictionary would take longer than writing it. */
const PACKED_RECORDS_MIN = 100;
/** Minimum and maximum of what words are learned from. */
const LEARNED_RECORDS_MIN = 1000;
const LEARNED_BYTES_MIN = 256 * 1024;
const LEARNED_BYTES_MAX = 4 * 1024 * 1024;
/**
 * A new dictionary, including its own size, has to make the records that it is learned from smaller by this fraction
 * than the present ones do.
 */
const SAVED_SHARE_MIN = 0.1;
/** Ratio of packed to original size of fields below which no new words are searched. */
const PACKED_WELL_SHARE = 0.35;
/** Number of records that are tried to find the best dictionary for a commit. */
const SAMPLE_RECORDS = 200;

/** Records one after the other in a buffer. */
export interface PackedBatch {
  readonly bytes: Uint8Array;
  /** Beginning of each record's fields; its end if the record is not to be packed. */
  readonly fields: Uint32Array;
  /** End of each record; packing changes it. */
  readonly ends: Uint32Array;
  readonly fieldsBytes: number;
}

export class RecordPacker {
  /** The dictionary of the last commit, and the ratio of packed to original size of the fields. */
  private last: { readonly number: number; readonly share: number } | undefined;
  /**
   * A dictionary learned by a commit that may not be on disk yet. Records of another version in the same commit are
   * packed with it, too.
   */
  private learned: Dictionary | undefined;
  /**
   * `unlikeBytes`: bytes of fields that were not packed well. `learnAtBytes`: how many there must be before words are
   * learned again.
   */
  private unlikeBytes = 0;
  private learnAtBytes = 0;

  constructor(private readonly words: RecordWords) {}

  /** Packs the records of a commit in place. Returns a new dictionary that has to be written with them. */
  pack(batch: PackedBatch): Dictionary | undefined {
    if (batch.ends.length < PACKED_RECORDS_MIN || batch.fieldsBytes === 0) return undefined;
    const count = this.words.count();
    // If the number of dictionaries is lost, none is learned: it could get the number of one that packs existing
    // records.
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

  /** Returns the dictionary that packs these records best, and the ratio of packed to original size. */
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

  /**
   * The number of dictionaries determines the threshold if the store was just opened; otherwise a list that is opened
   * again and again would learn each time.
   */
  private isDue(batch: PackedBatch, count: number): boolean {
    return this.unlikeBytes + batch.fieldsBytes >= Math.max(this.learnAtBytes, LEARNED_BYTES_MIN * 2 ** count);
  }

  /** Undefined if a new dictionary would not be worth it. `share`: ratio that the present dictionaries achieve. */
  private learnedFrom(batch: PackedBatch, share: number, number: number): Dictionary | undefined {
    // Learned by a commit that failed, or for another version in the same commit.
    if (this.learned?.number === number) return this.learned;
    // Words are searched again when there is twice as much.
    this.learnAtBytes = 2 * (this.unlikeBytes + batch.fieldsBytes);
    const sample = firstOf(batch, Math.ceil((batch.ends.length * LEARNED_BYTES_MAX) / batch.bytes.length));
    const words = kernel.learnWords(sample.bytes, sample.fields, sample.ends);
    if (words.length === 0) return undefined;
    const bytes = shareOfCopy(sample, { number, words }) * sample.fieldsBytes + words.length;
    if (bytes > share * sample.fieldsBytes * (1 - SAVED_SHARE_MIN)) return undefined;
    return (this.learned = { number, words });
  }
}

/** Returns the ratio of packed to original size of the fields. */
export function packInPlace({ bytes, fields, ends, fieldsBytes }: PackedBatch, { number, words }: Dictionary): number {
  const saved = bytes.length - kernel.packRecords(words, number, bytes, fields, ends);
  return fieldsBytes === 0 ? 1 : 1 - saved / fieldsBytes;
}

/** As `packInPlace`, on a copy of the batch. */
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
