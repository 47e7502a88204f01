/**
 * The results of an answer: records fetched, their words marked, all of it written. Records are gathered in pages, so that the
 * kernel is called once for the words of many. Belongs to one thread.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import type { RecordParts } from '../../records/index.js';
import type { SearchRequest } from '../options/search-request.js';
import { annotateExplanation, type Explanation } from '../response/explanation.js';
import { highlightRecords, NO_HIGHLIGHTS } from '../response/highlighting.js';
import { RecordPage } from '../response/record-page.js';
import type { ResponseWriter } from '../response/response-writer.js';
import { writeResult, type HighlightsJson } from '../response/result-writer.js';
import type { HitPlace } from './group-ranking.js';
import type { ListSearch } from './list-search.js';
import type { RecordReader } from './record-reader.js';
import type { RerankedPlace } from './reranked-places.js';

/** Records are read and written this many at a time until it is looked whether the search is to stop. */
const READ_BETWEEN_LOOKS = 16;

/** What the hits of one list have in common. */
interface ListOfHits {
  readonly search: ListSearch;
  /** On a group search. */
  readonly listName: string | undefined;
  readonly explanations: readonly Explanation[] | undefined;
  /** With explanations: names of the records whose meaning was searched for. */
  readonly like: readonly string[] | undefined;
}

interface GatheredHit extends HitPlace, Partial<Pick<RerankedPlace, 'before' | 'relevance'>> {
  readonly parts: RecordParts;
}

export interface HitsToWrite {
  readonly request: SearchRequest;
  readonly searches: readonly ListSearch[];
  /** One a list; undefined but on a group search. */
  readonly listNames: readonly (string | undefined)[];
  /** In the order of the answer. */
  readonly places: Iterable<HitPlace | RerankedPlace>;
}

export class HitWriter {
  private readonly page = new RecordPage();

  constructor(
    private readonly kernel: Pick<Kernel, 'highlight' | 'stopIfAsked'>,
    private readonly records: RecordReader,
  ) {}

  /** The members of `results`, without the brackets. A record that is gone is left out. */
  write({ request, searches, listNames, places }: HitsToWrite, writer: ResponseWriter): void {
    const lists = searches.map((search, index) => this.listOfHits(search, listNames[index]));
    const writeHit = hitWriting(request, lists, writer);
    const gathered: GatheredHit[] = [];
    this.page.clear();
    let read = 0;
    for (const place of places) {
      const { listIndex, hit } = place;
      if (read++ % READ_BETWEEN_LOOKS === 0) this.kernel.stopIfAsked();
      const { list, result } = searches[listIndex] as ListSearch;
      const parts = this.records.read(list, result.hits.recordNumber(hit));
      if (parts === undefined) continue;
      if (!request.highlight) {
        writeHit({ ...place, parts }, undefined);
        continue;
      }
      if (!this.page.hasRoomFor(parts)) this.writePage(gathered, lists, writeHit);
      gathered.push({ ...place, parts: this.page.add(parts) });
    }
    this.writePage(gathered, lists, writeHit);
  }

  private listOfHits(search: ListSearch, listName: string | undefined): ListOfHits {
    const { explainJson } = search.result;
    if (explainJson === '') return { search, listName, explanations: undefined, like: undefined };
    const like = search.meaning?.like?.flatMap((recordNumber) => {
      const parts = this.records.read(search.list, recordNumber);
      return parts === undefined ? [] : [nameOf(parts)];
    });
    return { search, listName, explanations: JSON.parse(explainJson) as Explanation[], like };
  }

  /** Writes what was gathered, and makes room for more. */
  private writePage(gathered: GatheredHit[], lists: readonly ListOfHits[], writeHit: WriteHit): void {
    const highlights = lists.map(({ search }, listIndex) => {
      const { query, list, plan } = search;
      const records = gathered.filter((hit) => hit.listIndex === listIndex).map(({ parts }) => parts);
      // Without words there is nothing to mark.
      if (query.kind !== 'groups') return records.map(() => NO_HIGHLIGHTS);
      return highlightRecords(this.kernel, { fieldNames: list.layout.textFields, plan }, records);
    });
    const next = lists.map(() => 0);
    for (const hit of gathered) {
      const at = next[hit.listIndex] as number;
      next[hit.listIndex] = at + 1;
      writeHit(hit, highlights[hit.listIndex]?.[at]);
    }
    gathered.length = 0;
    this.page.clear();
  }
}

function nameOf({ head }: RecordParts): string {
  return (JSON.parse(`{${Buffer.from(head).toString('utf8')}}`) as { readonly name: string }).name;
}

type WriteHit = (hit: GatheredHit, highlights: HighlightsJson | undefined) => void;

function hitWriting(request: SearchRequest, lists: readonly ListOfHits[], writer: ResponseWriter): WriteHit {
  const select = request.select === undefined ? undefined : new Set(request.select);
  let written = 0;
  return ({ listIndex, hit, parts, before, relevance }, highlights) => {
    const { search, listName, explanations, like } = lists[listIndex] as ListOfHits;
    const { query, result } = search;
    const { hits } = result;
    if (written > 0) writer.ascii(',');
    written += 1;
    const distance = request.radius === undefined ? Number.NaN : hits.distance(hit);
    const near = !Number.isNaN(distance);
    const explanation = explanations?.[hit];
    writeResult(writer, parts, {
      // Without words there is nothing to score by: every match is perfect.
      score: query.kind === 'everything' ? 1 : hits.score(hit),
      distance: near ? distance : undefined,
      location: near ? { latitude: hits.latitude(hit), longitude: hits.longitude(hit) } : undefined,
      highlights,
      listName,
      explainJson:
        explanation === undefined
          ? undefined
          : JSON.stringify({
              ...annotateExplanation(explanation, { ...search, like }),
              ...(before === undefined ? {} : { reranker: { place_before: before, relevance } }),
            }),
      select,
    });
  };
}
