/** Compares whole answers, of lists and groups, with the reference. */
import { kernel } from '../../native-bindings/index.js';
import { RecordStoreCache } from '../../src/records/index.js';
import { ResponseWriter, SearchExecutor, StoreRecordReader, type SearchOptions } from '../../src/search/index.js';
import { holdsTrue, same } from '../model/difference.js';
import { compared, optionsOf } from './checks.js';
import type { OtherOptions, WordOptions } from './made-searches.js';
import { expectedFacet, expectedHits, expectedRange, type Match } from './reference.js';
import type { SearchedList } from './searched-list.js';

const SCORE_ERROR_MAX = 1e-6;

interface Answer {
  readonly total_count: number;
  readonly results: readonly {
    readonly name: string;
    readonly list_name?: string;
    readonly '@text_score': number;
    readonly distinct_count?: number;
  }[];
  readonly facets?: Readonly<Record<string, unknown>>;
  readonly facet_ranges?: Readonly<Record<string, unknown>>;
}

export class Answers {
  private readonly stores = new RecordStoreCache();
  private readonly reader = new StoreRecordReader(this.stores);
  private readonly executor = new SearchExecutor(kernel, this.reader);

  constructor(private readonly lists: readonly SearchedList[]) {}

  async close(): Promise<void> {
    await this.stores.close();
  }

  search(options: SearchOptions): Answer {
    const isGroup = this.lists.length > 1;
    const writer = new ResponseWriter();
    const targets = this.lists.map(({ generation, list }) => {
      return { generation, ...(isGroup && { listName: list.id }) };
    });
    const subject = { kind: isGroup ? ('group' as const) : ('list' as const), name: 'all', version: 1 };
    const shown = { highlight: false, fields_bytes_max: 0, ...options };
    this.executor.execute({ kind: 'search', targets, subject, options: shown, queryId: 'query' }, writer);
    this.reader.release();
    return JSON.parse(Buffer.from(writer.take()).toString()) as Answer;
  }

  /** `base` are the matches of the words alone, in all lists. */
  check(base: readonly Match[], words: WordOptions, others: OtherOptions, page: { skip: number; size: number }): void {
    const { skip, size } = page;
    const answer = this.search({ ...optionsOf(words, others), skip, size });
    const { hits, sharing } = expectedHits(base, others);
    const shown = answer.results.map(({ name, list_name: list, distinct_count: count }) => [name, list, count]);
    const expected = hits.slice(skip, skip + size).map(({ record, list }, at) => {
      const listName = this.lists.length > 1 ? this.lists[list]?.list.id : undefined;
      return [record.name, listName, others.distinct === undefined ? undefined : sharing[skip + at]];
    });
    same('hits of an answer', shown, expected);
    same('total of an answer', answer.total_count, hits.length);
    if (others.ranking === undefined) {
      answer.results.forEach(({ '@text_score': score }, at) => {
        const match = hits[skip + at] as Match;
        holdsTrue('score of an answer', Math.abs(score - match.score) <= SCORE_ERROR_MAX, () => [score, match.score]);
      });
    }
    for (const name of others.facets ?? []) {
      same(`facet ${name} of an answer`, answer.facets?.[name], expectedFacet(base, others, name));
      same(`range of ${name}`, answer.facet_ranges?.[name], expectedRange(base, others, name));
    }
    compared.answers += 1;
  }
}
