/** A list as the kernel sees it: searches by encoded plans, whose window, floor and flags are replaced. */
import { kernel, kernelConstant, type GenerationHandle, type MeaningSearch } from '../../native-bindings/index.js';
import { parseResult, type QueryResult } from '../../native-bindings/query-plan.js';
import { RecordStoreCache } from '../../src/records/index.js';
import type { SearchOptions } from '../../src/search/index.js';
import { readSearchRequest } from '../../src/search/options/search-request.js';
import { ListContexts, type ListContext } from '../../src/search/execution/list-context.js';
import { ListSearcher } from '../../src/search/execution/list-search.js';
import { StoreRecordReader } from '../../src/search/execution/record-reader.js';
import type { MadeList, MadeRecord } from './made-lists.js';
import type { Match } from './reference.js';

/** More hits than any list has: no hit is passed over for better ones. */
export const ALL = 1 << 20;
const NEED_TOTAL = kernelConstant('PlanFlagNeedTotal');
const FLAGS_AT = 4;
const SKIP_AT = 8;
const SIZE_AT = 12;
const FLOOR_AT = 16;

/** An encoded plan, with the vector that is searched besides its words. */
export interface Planned {
  readonly bytes: Buffer;
  readonly meaning: MeaningSearch | undefined;
}

export interface Window {
  readonly skip?: number;
  readonly size?: number;
  /** Default true: all matches are counted, as the service does. */
  readonly needsTotal?: boolean;
  readonly floor?: number;
}

export interface Found {
  readonly total: number;
  readonly numbers: readonly number[];
  readonly scores: readonly number[];
  readonly facets: string;
  readonly ranges: string;
  readonly explanations: string;
}

/** With the score of each hit by each source, and its place there. */
export interface FoundByKinds extends Found {
  readonly sources: readonly unknown[];
}

function foundOf({ total, hits, facetsJson, rangesJson, explainJson }: QueryResult): Found {
  return {
    total,
    numbers: Array.from({ length: hits.count }, (_, hit) => hits.recordNumber(hit)),
    scores: Array.from({ length: hits.count }, (_, hit) => hits.score(hit)),
    facets: facetsJson,
    ranges: rangesJson,
    explanations: explainJson,
  };
}

export class SearchedList {
  readonly generation: GenerationHandle;
  readonly recordsByNumber = new Map<number, MadeRecord>();
  readonly segments: number;
  private readonly context: ListContext;
  private readonly searcher = new ListSearcher(kernel);
  private readonly lease;

  constructor(readonly list: MadeList) {
    this.lease = list.index.lease();
    this.generation = this.lease.handle;
    this.segments = kernel.generationInfo(this.generation).segments.length;
    this.context = new ListContexts(kernel).get(this.generation);
    this.readNames();
  }

  release(): void {
    this.lease.release();
  }

  plan(options: SearchOptions, vector?: Float32Array): Planned {
    const request = readSearchRequest(options, [this.context.settings.definition]);
    const window = { skip: 0, size: ALL, facetValues: request.options.facet_size };
    const { modelVersion = '' } = this.context.settings.meaning ?? {};
    const target = vector === undefined ? {} : { meaning: { modelVersion, vector }, isOfVector: true as const };
    const planned = this.searcher.plan(this.context, this.generation, { request, listIndex: 0, window, target });
    return { bytes: Buffer.from(planned.bytes), meaning: planned.meaning };
  }

  run({ bytes, meaning }: Planned, { skip = 0, size = ALL, needsTotal = true, floor }: Window = {}): Found {
    const plan = Buffer.from(bytes);
    const flags = plan.readUInt32LE(FLAGS_AT);
    plan.writeUInt32LE(needsTotal ? flags | NEED_TOTAL : flags & ~NEED_TOTAL, FLAGS_AT);
    plan.writeUInt32LE(skip, SKIP_AT);
    plan.writeUInt32LE(size, SIZE_AT);
    if (floor !== undefined) plan.writeFloatLE(floor, FLOOR_AT);
    const found = parseResult(kernel.search(this.generation, plan, meaning));
    return foundOf(found);
  }

  /** As the service searches: with what is found on pages of documents. */
  find(options: SearchOptions, { skip, size }: { readonly skip: number; readonly size: number }): FoundByKinds {
    const request = readSearchRequest({ ...options, skip, size }, [this.context.settings.definition]);
    const window = { skip, size, facetValues: request.options.facet_size };
    const asked = { request, listIndex: 0, window, target: {} };
    const { result } = this.searcher.search(this.context, this.generation, asked);
    const { kinds } = result.scores;
    const sources = Array.from({ length: result.hits.count }, (_, hit) => {
      return kinds.map((kind, source) => [kind, result.scores.score(hit, source), result.scores.place(hit, source)]);
    });
    return { ...foundOf(result), sources };
  }

  matches({ numbers, scores }: Found, list = 0): Match[] {
    return numbers.map((number, hit) => {
      const record = this.recordsByNumber.get(number) as MadeRecord;
      return { list, number, score: scores[hit] as number, record };
    });
  }

  private readNames(): void {
    const stores = new RecordStoreCache();
    const reader = new StoreRecordReader(stores);
    for (const number of this.run(this.plan({ query: '' })).numbers) {
      const name = reader.read(this.context, number)?.name ?? '';
      this.recordsByNumber.set(number, this.list.records.get(name) as MadeRecord);
    }
    reader.release();
    void stores.close();
  }
}
