/**
 * Creates the rows of the pages that a commit writes: packed with dictionaries of words that are learned from the
 * list's texts, or deflated if that is smaller. Belongs to one thread.
 */
import { kernel } from '../../native-bindings/index.js';
import {
  DICTIONARIES_MAX,
  PACKED_FORMAT,
  packInPlace,
  RecordRoom,
  shareOfCopy,
  type Dictionary,
  type PackedBatch,
  type RecordWords,
} from '../records/index.js';
import type { ReadText } from './file-reader.js';
import { deflatedPage, PACKED_PAGE_BYTES_MAX, writePage } from './page-row-codec.js';
import type { PageRows } from './page-rows.js';

/** Characters of a commit's texts that are packed at once. */
const BATCH_CHARACTERS_MAX = 16 * 1024 * 1024;
/** Minimum and maximum of what words are learned from: characters, and pages. */
const LEARNED_CHARACTERS_MIN = 256 * 1024;
const LEARNED_CHARACTERS_MAX = 4 * 1024 * 1024;
const LEARNED_PAGES_MAX = 8000;
/** One in so many of these pages is held out, to test what was learned from the others. */
const HELD_OUT = 8;
/** Ratio of packed to original size below which no new words are searched. */
const PACKED_WELL_SHARE = 0.4;
/**
 * A new dictionary has to pack to less than this fraction of what the present ones achieve or, if there are none, of
 * the texts.
 */
const BETTER_SHARE = 0.9;
const LEARNED_SHARE_MAX = 0.6;
/**
 * A page is deflated only if that takes less than this fraction of its packed size, because packed pages are read in a
 * fraction of the time.
 */
const SMALLER_SHARE = 0.8;
/** Number of pages that are tried to find the best dictionary for a commit. */
const SAMPLE_PAGES = 100;
/**
 * The dictionary of the previous commit is used without trying the others if its ratio is within this fraction of the
 * earlier one: building the tables of a dictionary takes as long as packing a document of many pages. After so many
 * commits all are tried again.
 */
const ALIKE_SHARE = 0.2;
const COMMITS_BETWEEN_LOOKS = 32;

/** Rows of the documents of a commit, and what is written with them. */
export interface PackedDocuments {
  /** Returns one row per page, in order. Throws for a document that was not packed. */
  rowsOf(document: ReadText): readonly Uint8Array[];
  /** A new dictionary with which they are packed, not on disk yet. */
  readonly learned: Dictionary | undefined;
  /** Number of pages when words were searched; undefined if they were not searched now. */
  readonly triedAt: number | undefined;
}

/** A dictionary with pages packed by it, and the ratio of packed to original size. */
interface TriedDictionary extends Dictionary {
  readonly share: number;
  readonly batch: PackedBatch;
}

export class PagePacker {
  /** The best dictionary when all were last tried, and the number of commits that have used it since. */
  private last:
    { readonly number: number; readonly share: number; readonly known: number; commits: number } | undefined;

  constructor(
    private readonly words: RecordWords,
    private readonly rows: PageRows,
  ) {}

  /**
   * Packs the pages of documents, before the transaction that writes them. Keeps no state that depends on the
   * transaction. `triedAt`: as last returned.
   */
  pack(documents: readonly ReadText[], triedAt: number): PackedDocuments {
    if (documents.length === 0) return NO_DOCUMENTS;
    // If the number of dictionaries is lost, none is learned, and nothing is packed.
    const count = this.words.count();
    const known = count === undefined ? [] : this.words.whole(count);
    const sample = batchOf(pagesOf(documents, SAMPLE_PAGES));
    const pages = documents.reduce((sum, document) => sum + document.pages.length, this.rows.count());
    const isToLearn = count !== undefined && count < DICTIONARIES_MAX && pages >= 2 * triedAt && sample.fieldsBytes > 0;
    const best = isToLearn
      ? this.bestOfAll(sample, known)
      : (this.sameAsBefore(sample, known) ?? this.bestOfAll(sample, known));
    const tried = isToLearn && (best?.share ?? 1) > PACKED_WELL_SHARE ? this.learn(documents, best) : undefined;
    const learned = tried?.words && { number: (count ?? 0) + 1, words: tried.words };
    const rows = new Map<ReadText, readonly Uint8Array[]>();
    const isAllTried = best !== undefined && learned === undefined && isSample(documents);
    if (isAllTried) putRows(documents, best.batch, rows);
    else for (const some of inBatches(documents)) packBatch(some, learned ?? best, rows);
    return packedDocuments(rows, learned, tried && pages);
  }

  /** Undefined if the other dictionaries have to be tried. */
  private sameAsBefore(sample: PackedBatch, known: readonly Dictionary[]): TriedDictionary | undefined {
    const { last } = this;
    const same = known.find(({ number }) => number === last?.number);
    if (last === undefined || same === undefined || last.known !== known.length) return undefined;
    if (last.commits >= COMMITS_BETWEEN_LOOKS) return undefined;
    const tried = packedCopy(sample, same);
    if (Math.abs(tried.share - last.share) > ALIKE_SHARE * last.share) return undefined;
    last.commits += 1;
    return tried;
  }

  private bestOfAll(sample: PackedBatch, known: readonly Dictionary[]): TriedDictionary | undefined {
    const [best] = known
      .map((dictionary) => packedCopy(sample, dictionary))
      .sort((left, right) => left.share - right.share);
    this.last = best && { number: best.number, share: best.share, known: known.length, commits: 0 };
    return best;
  }

  /** Undefined if there is too little text to learn from. Without `words` if they would not be better. */
  private learn(documents: readonly ReadText[], best: Dictionary | undefined): { words?: Uint8Array } | undefined {
    const texts: string[] = [];
    let characters = 0;
    const take = (all: Iterable<string>, max: number) => {
      for (const text of all) {
        if (characters >= max || texts.length >= LEARNED_PAGES_MAX) return;
        texts.push(text);
        characters += text.length;
      }
    };
    take(textsOf(documents), LEARNED_CHARACTERS_MAX / 2);
    take(this.rows.texts(), LEARNED_CHARACTERS_MAX);
    if (characters < LEARNED_CHARACTERS_MIN && texts.length < LEARNED_PAGES_MAX) return undefined;
    const [learnedFrom, heldOut] = [false, true].map((isHeld) =>
      batchOf(texts.filter((_, index) => (index % HELD_OUT === 0) === isHeld).map((text) => ({ text, pageCount: 1 }))),
    ) as [PackedBatch, PackedBatch];
    const words = kernel.learnWords(learnedFrom.bytes, learnedFrom.fields, learnedFrom.ends);
    if (words.length === 0) return {};
    const shareMax = best === undefined ? LEARNED_SHARE_MAX : BETTER_SHARE * shareOfCopy(heldOut, best);
    return shareOfCopy(heldOut, { number: 1, words }) <= shareMax ? { words } : {};
  }
}

function packedDocuments(
  rows: ReadonlyMap<ReadText, readonly Uint8Array[]>,
  learned?: Dictionary,
  triedAt?: number,
): PackedDocuments {
  const rowsOf = (document: ReadText) => {
    const found = rows.get(document);
    if (found === undefined) throw new Error('a document was not packed');
    return found;
  };
  return { rowsOf, learned, triedAt };
}

const NO_DOCUMENTS = packedDocuments(new Map());

/** Returns the rows of a document without a dictionary. */
export function rowsWithoutWords(document: ReadText): readonly Uint8Array[] {
  const rows = new Map<ReadText, readonly Uint8Array[]>();
  packBatch([document], undefined, rows);
  return packedDocuments(rows).rowsOf(document);
}

interface PageText {
  readonly text: string;
  readonly pageCount: number;
}

function* pagesOf(documents: readonly ReadText[], max = Infinity): Generator<PageText> {
  let count = 0;
  for (const { pages, pageCount } of documents)
    for (const { text } of pages) {
      if (count >= max) return;
      count += 1;
      yield { text, pageCount };
    }
}

function* textsOf(documents: readonly ReadText[]): Generator<string> {
  for (const { text } of pagesOf(documents)) yield text;
}

function* inBatches(documents: readonly ReadText[]): Generator<readonly ReadText[]> {
  let [batch, characters]: [ReadText[], number] = [[], 0];
  for (const document of documents) {
    batch.push(document);
    for (const { text } of document.pages) characters += text.length;
    if (characters < BATCH_CHARACTERS_MAX) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** Concatenates pages; those that can be packed have their text as fields. */
function batchOf(pages: Iterable<PageText>): PackedBatch {
  const room = new RecordRoom();
  const [fields, ends]: [number[], number[]] = [[], []];
  let fieldsBytes = 0;
  for (const { text, pageCount } of pages) {
    const begin = writePage(text, pageCount, room);
    const isPacked = room.length - begin <= PACKED_PAGE_BYTES_MAX;
    fields.push(isPacked ? begin : room.length);
    ends.push(room.length);
    if (isPacked) fieldsBytes += room.length - begin;
  }
  const bytes = room.buffer.subarray(0, room.length);
  return { bytes, fields: Uint32Array.from(fields), ends: Uint32Array.from(ends), fieldsBytes };
}

/** Packs a copy of the batch. */
function packedCopy(batch: PackedBatch, dictionary: Dictionary): TriedDictionary {
  const copy = { ...batch, bytes: Uint8Array.from(batch.bytes), ends: batch.ends.slice() };
  return { ...dictionary, share: packInPlace(copy, dictionary), batch: copy };
}

/** True if the sample contains all pages. */
function isSample(documents: readonly ReadText[]): boolean {
  return documents.reduce((sum, { pages }) => sum + pages.length, 0) <= SAMPLE_PAGES;
}

function packBatch(
  documents: readonly ReadText[],
  dictionary: Dictionary | undefined,
  rows: Map<ReadText, readonly Uint8Array[]>,
): void {
  const batch = batchOf(pagesOf(documents));
  if (dictionary !== undefined) packInPlace(batch, dictionary);
  putRows(documents, batch, rows);
}

/** Adds the rows of the documents; the batch has all their pages. */
function putRows(documents: readonly ReadText[], batch: PackedBatch, rows: Map<ReadText, readonly Uint8Array[]>): void {
  let index = 0;
  for (const document of documents) {
    const { pageCount, pages } = document;
    const ofDocument = pages.map(({ page, text }, position) => {
      if (page !== position + 1) throw new Error(`page ${page} is in the place of page ${position + 1}`);
      const bytes = batch.bytes.subarray(batch.ends[index - 1] ?? 0, batch.ends[index]);
      index += 1;
      return text === '' ? bytes : smallerOf(bytes, { text, pageCount });
    });
    rows.set(document, ofDocument);
  }
}

function smallerOf(row: Uint8Array, { text, pageCount }: PageText): Uint8Array {
  const deflated = deflatedPage(text, pageCount);
  const isWorthIt =
    row[0] === PACKED_FORMAT ? deflated.length < SMALLER_SHARE * row.length : deflated.length < row.length;
  return isWorthIt ? deflated : row;
}
