/**
 * Writes the results of an answer: fetches the records, has their words marked, and writes them. Records are gathered
 * in pages, so that one call of the kernel marks the words of many. Belongs to one thread.
 */
import type { Kernel } from '../../../native-bindings/index.js';
import type { SeenAt } from '../../extracts/index.js';
import { DamagedRecord, isPacked, readRecord, type RecordParts } from '../../records/index.js';
import type { SearchRequest } from '../options/search-request.js';
import { searchedFields } from '../plan/plan-encoder.js';
import { annotateExplanation, type Explanation } from '../response/explanation.js';
import { highlightRecords, NO_HIGHLIGHTS } from '../response/highlighting.js';
import { PackedTexts } from '../response/packed-texts.js';
import { RecordPage } from '../response/record-page.js';
import type { ResponseWriter } from '../response/response-writer.js';
import { writeDamaged, writeResult, type FileMembers, type HighlightsJson } from '../response/result-writer.js';
import type { HitPlace } from './group-ranking.js';
import {
  fieldsOf,
  filesOf,
  membersOfFiles,
  pageToRead,
  scoresOf,
  type HitWithFile,
  type ScoresByKind,
} from './hit-documents.js';
import type { ListSearch } from './list-search.js';
import type { ReadResource, RecordReader } from './record-reader.js';
import type { RerankedPlace } from './reranked-places.js';

/** Number of records read between two checks whether the search has to stop. */
const READ_BETWEEN_LOOKS = 16;

/** What the hits of one list have in common. */
interface ListOfHits {
  readonly search: ListSearch;
  /** Undefined except on a group search. */
  readonly listName: string | undefined;
  readonly explanations: readonly Explanation[] | undefined;
  /** With explanations: names of the records whose vectors were added up as the meaning of the query. */
  readonly like: readonly string[] | undefined;
}

/** Hit with its record. Every object has the same shape (hidden class): about ten are created per search. */
interface GatheredHit {
  readonly place: HitPlace | RerankedPlace;
  readonly parts: RecordParts;
  readonly scores: ScoresByKind;
}

/** Takes the place of a hit whose record cannot be read. */
interface DamagedHit {
  readonly place: HitPlace | RerankedPlace;
  readonly parts: DamagedRecord;
}

interface GatheredPlace {
  readonly place: HitPlace | RerankedPlace;
  readonly scores: ScoresByKind;
}

interface WritingHits {
  readonly request: SearchRequest;
  readonly lists: readonly ListOfHits[];
  readonly writeHit: WriteHit;
}

export interface HitsToWrite {
  readonly request: SearchRequest;
  readonly searches: readonly ListSearch[];
  /** One per list; undefined except on a group search. */
  readonly listNames: readonly (string | undefined)[];
  /** In the order of the answer. */
  readonly places: Iterable<HitPlace | RerankedPlace>;
}

export class HitWriter {
  private readonly page = new RecordPage();
  readonly texts = new PackedTexts();

  constructor(
    readonly kernel: Pick<Kernel, 'highlight' | 'highlightPages' | 'stopIfAsked'>,
    readonly records: RecordReader,
  ) {}

  /** Writes the elements of `results`, without the brackets. Leaves out records that are gone. */
  write({ request, searches, listNames, places }: HitsToWrite, writer: ResponseWriter): void {
    const lists = searches.map((search, index) => this.listOfHits(search, listNames[index]));
    const writeHit = hitWriting(request, lists, writer);
    const writing = { request, lists, writeHit };
    const gathered: GatheredPlace[] = [];
    this.page.clear();
    let read = 0;
    for (const place of places) {
      const { listIndex, hit } = place;
      if (read++ % READ_BETWEEN_LOOKS === 0) this.kernel.stopIfAsked();
      const search = searches[listIndex] as ListSearch;
      const stored = this.records.stored(search.list, search.result.hits.recordNumber(hit));
      if (stored === undefined) continue;
      const scores = scoresOf(search, hit);
      // Marking, and reading pages, need the record's bytes to outlive the next read: those hits are gathered in a
      // page.
      const isAlone = search.pages === undefined && scores.seenAt === undefined && !tellsResources(lists[listIndex]);
      if (!request.options.highlight && isAlone && gathered.length === 0 && !isPacked(stored)) {
        writeHit({ place, scores, parts: readRecord(stored) } as GatheredHit | DamagedHit, NOTHING_MARKED);
        continue;
      }
      if (!this.page.hasRoomFor(stored)) this.writePage(gathered, writing);
      this.page.add(stored, this.records.wordsOf(search.list));
      gathered.push({ place, scores });
    }
    this.writePage(gathered, writing);
  }

  private listOfHits(search: ListSearch, listName: string | undefined): ListOfHits {
    const { explainJson } = search.result;
    if (explainJson === '') return { search, listName, explanations: undefined, like: undefined };
    const like = search.meaning?.like?.flatMap((recordNumber) => {
      const parts = this.records.read(search.list, recordNumber);
      return parts === undefined ? [] : [parts.name];
    });
    return { search, listName, explanations: JSON.parse(explainJson) as Explanation[], like };
  }

  /** Writes the gathered hits and clears the page for more. */
  private writePage(gathered: GatheredPlace[], { request, lists, writeHit }: WritingHits): void {
    const records = this.page.records();
    const all = gathered.map(
      ({ place, scores }, index) => ({ place, parts: records[index], scores }) as GatheredHit | DamagedHit,
    );
    const readable = all.filter(isReadable);
    const marked = lists.map(({ search }, listIndex): MarkedOfList => {
      const hits = readable.filter(({ place }) => place.listIndex === listIndex);
      // The kernel's next call may reuse the memory of what it marked, so files come before highlights.
      const files = this.files(search, hits, request);
      const resources = tellsResources(lists[listIndex])
        ? hits.map(({ parts }) => this.records.readResources(search.list, fieldsOf(parts)))
        : [];
      const frames = hits.map(({ parts, scores: { seenAt } }) =>
        seenAt === undefined ? undefined : this.records.readFrame(search.list, fieldsOf(parts), seenAt),
      );
      return {
        files,
        frames,
        resources,
        highlights: request.options.highlight ? this.highlights(search, hits, request) : [],
      };
    });
    const next = lists.map(() => 0);
    for (const hit of all) {
      const { listIndex } = hit.place;
      if (!isReadable(hit)) {
        writeHit(hit, NOTHING_MARKED);
        continue;
      }
      const at = next[listIndex] as number;
      next[listIndex] = at + 1;
      const { files, frames, highlights, resources } = marked[listIndex] as MarkedOfList;
      writeHit(hit, {
        highlights: highlights[at],
        files: files[at],
        frame: frames[at],
        resources: resources[at],
      });
    }
    gathered.length = 0;
    this.page.clear();
  }

  private highlights(
    { query, list, plan }: ListSearch,
    hits: readonly GatheredHit[],
    { searchFields }: SearchRequest,
  ): readonly HighlightsJson[] {
    // Without words there is nothing to mark.
    if (query.kind !== 'groups') return hits.map(() => NO_HIGHLIGHTS);
    const records = hits.map(({ parts }) => parts);
    return highlightRecords(this.kernel, { fieldNames: searchedFields(searchFields, list.layout), plan }, records);
  }

  /** Returns the files of each hit. Empty if the list has no files. */
  private files(
    search: ListSearch,
    hits: readonly GatheredHit[],
    { options: { highlight } }: SearchRequest,
  ): readonly (readonly FileMembers[])[] {
    if (search.pages === undefined) return [];
    const found: HitWithFile[] = [];
    const ends = hits.map(({ parts, scores }) => {
      for (const file of filesOf(scores)) found.push({ found: file, page: pageToRead(search, parts, file) });
      return found.length;
    });
    const members = membersOfFiles(this, search, found, highlight);
    return ends.map((end, index) => members.slice(ends[index - 1] ?? 0, end));
  }
}

/** What was found in a hit besides its record. */
interface Marked {
  readonly highlights: HighlightsJson | undefined;
  readonly files: readonly FileMembers[] | undefined;
  /** Video frame by which the record was found. */
  readonly frame: SeenAt | undefined;
  /** State of the files that the record links to. */
  readonly resources: readonly ReadResource[] | undefined;
}

const NOTHING_MARKED: Marked = Object.freeze({
  highlights: undefined,
  files: undefined,
  frame: undefined,
  resources: undefined,
});

/** What was found in the gathered hits of one list, in their order. Arrays are empty for what was not asked for. */
interface MarkedOfList {
  readonly files: readonly (readonly FileMembers[])[];
  readonly frames: readonly (SeenAt | undefined)[];
  readonly highlights: readonly HighlightsJson[];
  readonly resources: readonly (readonly ReadResource[])[];
}

/** True if explanations are written that report the state of linked files. */
function tellsResources(hits: ListOfHits | undefined): boolean {
  return hits?.explanations !== undefined && hits.search.list.hasPages;
}

type WriteHit = (hit: GatheredHit | DamagedHit, marked: Marked) => void;

function isReadable(hit: GatheredHit | DamagedHit): hit is GatheredHit {
  return !(hit.parts instanceof DamagedRecord);
}

function hitWriting(request: SearchRequest, lists: readonly ListOfHits[], writer: ResponseWriter): WriteHit {
  const select = request.options.select === undefined ? undefined : new Set(request.options.select);
  let written = 0;
  return (gathered, { highlights, files, frame, resources }) => {
    const { place } = gathered;
    const { listIndex, hit } = place;
    const { search, listName, explanations, like } = lists[listIndex] as ListOfHits;
    const { hits } = search.result;
    if (written > 0) writer.ascii(',');
    written += 1;
    if (!isReadable(gathered)) {
      writeDamaged(writer, gathered.parts, { listName, sharing: place.sharing });
      return;
    }
    const { parts, scores } = gathered;
    const distance = request.radius === undefined ? Number.NaN : hits.distance(hit);
    const near = !Number.isNaN(distance);
    const explanation = explanations?.[hit];
    writeResult(writer, parts, {
      textScore: scores.text,
      imageScore: scores.image,
      files,
      frame,
      distance: near ? distance : undefined,
      sharing: place.sharing,
      location: near ? { latitude: hits.latitude(hit), longitude: hits.longitude(hit) } : undefined,
      highlights,
      listName,
      explainJson:
        explanation === undefined
          ? undefined
          : JSON.stringify({
              ...annotateExplanation(explanation, { ...search, like }),
              ...(resources === undefined ? {} : { resources }),
              ...('before' in place ? { reranker: { place_before: place.before, relevance: place.relevance } } : {}),
            }),
      select,
      fieldsBytesMax: request.options.fields_bytes_max,
    });
  };
}
