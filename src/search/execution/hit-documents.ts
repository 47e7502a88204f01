/** The documents that hits were found by: which page of which, and what is marked in it. Belongs to one thread. */
import { pageAt } from '../../index/parts/part-layout.js';
import { parseFields, type RecordParts } from '../../records/index.js';
import { highlightPages, type HighlightKernel } from '../response/highlighting.js';
import type { DocumentMembers } from '../response/result-writer.js';
import type { ListSearch } from './list-search.js';
import type { RecordReader } from './record-reader.js';

const NOTHING = Buffer.alloc(0);

/** What a hit has by its text, by its document and by its picture; undefined where that played no part. */
export interface ScoresByKind {
  readonly text: number | undefined;
  readonly document: FoundDocument | undefined;
  readonly image: number | undefined;
}

interface FoundDocument {
  /** 0..1. */
  readonly score: number;
  /** Of the page (`index/parts/part-layout.ts`). */
  readonly place: number | undefined;
}

export function scoresOf({ query, pages, isOfPictures, result }: ListSearch, hit: number): ScoresByKind {
  // Without words there is nothing to score by: every match is perfect.
  if (query.kind === 'everything') return { text: 1, document: undefined, image: undefined };
  const { hits, scores } = result;
  if (isOfPictures) return { text: undefined, document: undefined, image: hits.score(hit) };
  if (pages === undefined) return { text: hits.score(hit), document: undefined, image: undefined };
  const source = scores.kinds.indexOf('document');
  const text = scores.score(hit, scores.kinds.indexOf('text'));
  const score = scores.score(hit, source);
  const document = score > 0 ? { score, place: scores.place(hit, source) } : undefined;
  return { text: text > 0 ? text : undefined, document, image: undefined };
}

/** The page of a hit, before it is read; undefined where the record links to no such document any more. */
export interface PageToRead {
  readonly field: string;
  readonly url: string;
  readonly page: number;
}

export function pageToRead({ list }: ListSearch, parts: RecordParts, { place }: FoundDocument): PageToRead | undefined {
  const found = place === undefined ? undefined : pageAt(list.settings.definition, place);
  if (found === undefined) return undefined;
  const url = fieldsOf(parts)[found.field];
  return typeof url === 'string' ? { ...found, url } : undefined;
}

export function fieldsOf({ fields }: RecordParts): Readonly<Record<string, unknown>> {
  return parseFields(Buffer.from(fields.buffer, fields.byteOffset, fields.byteLength).toString());
}

/** One hit of a list, found by a document. */
export interface HitWithDocument {
  readonly found: FoundDocument;
  readonly page: PageToRead | undefined;
}

/** What is answered of the documents of hits of one list, in their order. Their records are copies: reading pages takes the memory of others. */
export function documentsOf(
  using: { readonly kernel: HighlightKernel; readonly records: RecordReader },
  search: ListSearch,
  hits: readonly HitWithDocument[],
  isMarked: boolean,
): readonly DocumentMembers[] {
  const { list, pages } = search;
  // What is read of a page is good until the next one is read.
  const read = hits.map(({ page }) => {
    const found = page && using.records.readPage(list, page.url, page.page);
    return found && { pageCount: found.pageCount, packed: isMarked ? Buffer.from(found.packed) : NOTHING };
  });
  const packed = read.map((each) => each?.packed ?? NOTHING);
  const marked = isMarked && pages !== undefined ? highlightPages(using.kernel, pages.plan, packed) : [];
  return hits.map(({ found, page }, index) => ({
    score: found.score,
    page: page && answered(page, read[index]?.pageCount, marked[index]),
  }));
}

function answered(
  { field, url, page }: PageToRead,
  pageCount: number | undefined,
  highlight: string | undefined,
): DocumentMembers['page'] {
  if (pageCount === undefined) return undefined;
  return { field, url, page, page_count: pageCount, ...(highlight === undefined ? {} : { highlight }) };
}
