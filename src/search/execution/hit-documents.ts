/**
 * Finds the files by which records became hits: which page of which document or which second of which recording, and
 * the marked words there. Belongs to one thread.
 */
import type { ScoreKind, SourceScores } from '../../../native-bindings/query-plan.js';
import { NO_PAGE, textOfPassage, type Passage, type RecordingKind, type TextKind } from '../../extracts/index.js';
import { pageAt } from '../../index/parts/part-layout.js';
import { parseFields, stringField, type RecordParts } from '../../records/index.js';
import { highlightPages, highlightTexts, type HighlightKernel } from '../response/highlighting.js';
import type { PackedTexts } from '../response/packed-texts.js';
import type { DocumentPage, FileMembers, MediaSecond } from '../response/result-writer.js';
import type { ListSearch } from './list-search.js';
import type { RecordReader } from './record-reader.js';

const NO_FILES: readonly FoundFile[] = Object.freeze([]);

/** Tag that the kernel puts before each marked word. */
const MARK = '<em>';

/** Scores of a hit by kind of source. Undefined for a source that did not contribute. */
export interface ScoresByKind {
  readonly text: number | undefined;
  readonly document: FoundFile | undefined;
  readonly video: FoundFile | undefined;
  readonly audio: FoundFile | undefined;
  readonly image: number | undefined;
  /**
   * Index of the matched vector among the vectors of the record's pictures and frames. Set only if the list may have
   * video frames.
   */
  readonly seenAt: number | undefined;
}

interface FoundFile {
  readonly kind: TextKind;
  /** In 0..1. */
  readonly score: number;
  /** Place of the page or passage (`index/parts/part-layout.ts`). */
  readonly place: number | undefined;
}

export function scoresOf(search: ListSearch, hit: number): ScoresByKind {
  const { query, pages, pictures, isOfPictures, result } = search;
  // Without words there is nothing to score by, so every match scores 1.
  if (query.kind === 'everything') return withoutFiles(1, undefined);
  const { hits, scores } = result;
  if (isOfPictures) return withoutFiles(undefined, hits.score(hit), seenAt(search, 'meaning', hit));
  if (pages === undefined && pictures === undefined) return withoutFiles(hits.score(hit), undefined);
  return {
    text: scoreOf(scores, 'text', hit),
    document: foundFile(scores, 'document', hit),
    video: foundFile(scores, 'video', hit),
    audio: foundFile(scores, 'audio', hit),
    image: scoreOf(scores, 'image', hit),
    seenAt: seenAt(search, 'image', hit),
  };
}

function scoreOf(scores: SourceScores, kind: ScoreKind, hit: number): number | undefined {
  const source = scores.kinds.indexOf(kind);
  const score = source < 0 ? 0 : scores.score(hit, source);
  return score > 0 ? score : undefined;
}

function foundFile(scores: SourceScores, kind: TextKind, hit: number): FoundFile | undefined {
  const score = scoreOf(scores, kind, hit);
  return score === undefined ? undefined : { kind, score, place: scores.place(hit, scores.kinds.indexOf(kind)) };
}

/** Creates every object with the same shape (hidden class): this runs about ten times per search. */
function withoutFiles(text: number | undefined, image: number | undefined, seenAt?: number): ScoresByKind {
  return { text, document: undefined, video: undefined, audio: undefined, image, seenAt };
}

/**
 * Returns the place of the matched vector. Undefined if the list has no video frames or the source did not take part.
 */
function seenAt({ list, result: { scores } }: ListSearch, kind: 'meaning' | 'image', hit: number): number | undefined {
  const source = list.hasVideos ? scores.kinds.indexOf(kind) : -1;
  return source < 0 ? undefined : scores.place(hit, source);
}

/** Returns the files by which a hit was found. */
export function filesOf({ document, video, audio }: ScoresByKind): readonly FoundFile[] {
  if (video === undefined && audio === undefined) return document === undefined ? NO_FILES : [document];
  return [document, video, audio].filter((found) => found !== undefined);
}

/** Page or passage of a hit, before it is read. Undefined if the record no longer links to such a file. */
export interface PageToRead {
  readonly field: string;
  readonly url: string;
  /** Counted from 1. */
  readonly page: number;
}

export function pageToRead({ list }: ListSearch, parts: RecordParts, { place }: FoundFile): PageToRead | undefined {
  const found = place === undefined ? undefined : pageAt(list.settings.definition, place);
  if (found === undefined) return undefined;
  const { field, page } = found;
  const url = stringField(parts.fieldsJson, field);
  return url === undefined ? undefined : { field, url, page };
}

export function fieldsOf({ fieldsJson }: RecordParts): Readonly<Record<string, unknown>> {
  return parseFields(fieldsJson);
}

/** Hit of a list that was found by a file. */
export interface HitWithFile {
  readonly found: FoundFile;
  readonly page: PageToRead | undefined;
}

interface Reading {
  readonly kernel: HighlightKernel;
  readonly records: RecordReader;
  /** Buffer for the texts that are read. */
  readonly texts: PackedTexts;
}

/**
 * Returns the response members for the files of one list's hits, in the order of the hits. The hits' records must be
 * copies, since reading pages reuses the memory of records.
 */
export function membersOfFiles(
  using: Reading,
  search: ListSearch,
  hits: readonly HitWithFile[],
  isMarked: boolean,
): readonly FileMembers[] {
  const pages = hits.map(({ found, page }) => (found.kind === 'document' ? page : undefined));
  const documents = documentsOf(using, search, pages, isMarked);
  return hits.map(({ found: { kind, score }, page }, index) => {
    if (kind === 'document') return { kind, score, document: documents[index] };
    return { kind, score, media: page && mediaOf(using, search, { kind, page }, isMarked) };
  });
}

function documentsOf(
  using: Reading,
  { list, pages }: ListSearch,
  wanted: readonly (PageToRead | undefined)[],
  isMarked: boolean,
): readonly (DocumentPage | undefined)[] {
  using.texts.clear();
  const pageCounts = wanted.map((page) => {
    const read = page && using.records.readPage(list, page.url, page.page);
    // The bytes of a page are valid only until the next page is read.
    if (isMarked) using.texts.add(read ?? NO_PAGE);
    return read?.pageCount;
  });
  const marked = isMarked && pages !== undefined ? highlightPages(using.kernel, pages.plan, using.texts) : [];
  return wanted.map((page, index) => {
    const pageCount = pageCounts[index];
    if (page === undefined || pageCount === undefined) return undefined;
    // Fixed member names: this runs about ten times per search, and a literal is much faster than copying any object's
    // members.
    return { field: page.field, url: page.url, page: page.page, pageCount, highlight: marked[index] };
  });
}

/**
 * Marks the passage as a whole and cue by cue. `seconds` is the start of the cue with the most marked words; among
 * equals, the first.
 */
function mediaOf(
  { kernel, records }: Reading,
  { list, pages }: ListSearch,
  { kind, page: { field, url, page } }: { readonly kind: RecordingKind; readonly page: PageToRead },
  isMarked: boolean,
): MediaSecond | undefined {
  const cues = records.readPassage(list, { kind, url }, page);
  if (cues === undefined || pages === undefined) return undefined;
  const texts = [textOfPassage(cues), ...cues.map(({ text }) => text)];
  const [highlight, ...ofCues] = highlightTexts(kernel, pages.plan, texts);
  const second = { field, url, seconds: secondOf(cues, ofCues) };
  return isMarked && highlight !== undefined ? { ...second, highlight } : second;
}

function secondOf(cues: Passage, marked: readonly (string | undefined)[]): number {
  let [most, seconds] = [-1, 0];
  for (const [index, cue] of cues.entries()) {
    const words = (marked[index] ?? '').split(MARK).length - 1;
    if (words > most) [most, seconds] = [words, cue.seconds];
  }
  return seconds;
}
