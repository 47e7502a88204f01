/** Merges the suggestions of all sources and lists into one answer. Belongs to one thread. */
import type { Kernel } from '../../../native-bindings/index.js';
import type { RecordStoreCache } from '../../records/index.js';
import type { ListContexts } from '../execution/list-context.js';
import type { ResponseWriter } from '../response/response-writer.js';
import type { SuggestTask } from '../types.js';
import type { EarlierSearchesOf } from '../earlier/earlier-searches.js';
import { EarlierQuerySource } from './earlier-query-source.js';
import { ListWordSource } from './list-word-source.js';
import { QuerySpelling } from './query-spelling.js';
import { RecordNameSource } from './record-name-source.js';
import type { Suggestion, SuggestionSource } from './suggestion-source.js';
import { WrittenForms } from './written-forms.js';

interface Candidate extends Suggestion {
  readonly listName: string | undefined;
}

export class SuggestExecutor {
  private readonly sources: readonly SuggestionSource[];
  private readonly words: ListWordSource;

  constructor(
    private readonly kernel: Kernel,
    private readonly contexts: ListContexts,
    stores: RecordStoreCache,
    earlierSearchesOf: EarlierSearchesOf = () => undefined,
  ) {
    const spelling = new QuerySpelling(kernel, new WrittenForms(kernel, stores));
    this.words = new ListWordSource(kernel, spelling);
    this.sources = [
      new EarlierQuerySource(kernel, spelling, earlierSearchesOf),
      new RecordNameSource(kernel, stores),
      this.words,
    ];
  }

  /** Appends the response body and returns the number of suggestions. */
  execute({ targets, options }: SuggestTask, writer: ResponseWriter): number {
    const begin = performance.now();
    const { size, typoTolerance } = options;
    const text = options.query.trimStart();
    const candidates = targets.flatMap(({ generation, listName, learned }) => {
      const request = { text, size, typoTolerance, learned };
      const list = this.contexts.get(generation);
      return this.sources.flatMap((source) => {
        this.kernel.stopIfAsked();
        return source.suggest(list, generation, request).map((suggestion) => ({ ...suggestion, listName }));
      });
    });
    const chosen = chooseSuggestions(this.withWholeCounts(targets, candidates, size), size);
    const shown = chosen.map((candidate) => {
      this.kernel.stopIfAsked();
      return resource(candidate);
    });
    writer.text(`{"suggestions":${JSON.stringify(shown)}`);
    writer.ascii(`,"took_ms":${(performance.now() - begin).toFixed(3)}}`);
    return chosen.length;
  }

  /**
   * Adds the counts of lists that did not suggest a chosen query themselves. Each list suggests only its own best ones,
   * so its records would be missing from the query's count.
   */
  private withWholeCounts(targets: SuggestTask['targets'], candidates: readonly Candidate[], size: number) {
    if (targets.length < 2) return candidates;
    const known = new Set(candidates.map((candidate) => queryOfList(candidate, candidate.listName)));
    const others = chooseSuggestions(candidates, size).flatMap((query): Candidate[] => {
      if (query.kind !== 'query') return [];
      const lacking = targets.filter(({ listName }) => !known.has(queryOfList(query, listName)));
      return lacking.map(({ generation, listName }) => {
        this.kernel.stopIfAsked();
        return { ...query, listName, recordCount: this.words.count(generation, query.text), popularity: 0 };
      });
    });
    return [...candidates, ...others];
  }
}

/**
 * Returns the best suggestions by tier. Names and queries get half of the places each, unless one of them has fewer. A
 * query suggested by several lists appears once, with the records of all of them.
 */
export function chooseSuggestions(candidates: readonly Candidate[], size: number): readonly Candidate[] {
  const ranked = withMergedQueries(candidates).sort((a, b) => a.tier - b.tier);
  const records = ranked.filter(({ kind }) => kind === 'record');
  const queries = ranked.filter(({ kind }) => kind === 'query');
  const half = Math.ceil(size / 2);
  const recordCount = Math.min(records.length, Math.max(half, size - queries.length));
  const kept = new Set([...records.slice(0, recordCount), ...queries.slice(0, size - recordCount)]);
  return ranked.filter((candidate) => kept.has(candidate)).slice(0, size);
}

function withMergedQueries(candidates: readonly Candidate[]): Candidate[] {
  const queries = new Map<string, { readonly best: Candidate; readonly merged: Candidate }>();
  for (const candidate of withoutRepetition(candidates.filter(({ kind }) => kind === 'query'))) {
    const key = foldedOf(candidate);
    const known = queries.get(key);
    const best = known === undefined || isBetter(candidate, known.best) ? candidate : known.best;
    const recordCount = (known?.merged.recordCount ?? 0) + (candidate.recordCount ?? 0);
    const popularity = (known?.merged.popularity ?? 0) + (candidate.popularity ?? 0);
    queries.set(key, { best, merged: { ...best, recordCount, popularity } });
  }
  const ranked = Array.from(queries.values(), ({ merged }) => merged).sort(
    (a, b) =>
      a.tier - b.tier || (b.popularity ?? 0) - (a.popularity ?? 0) || (b.recordCount ?? 0) - (a.recordCount ?? 0),
  );
  return [...candidates.filter(({ kind }) => kind !== 'query'), ...ranked];
}

/** Compares what two lists suggest for the same query: with more records, there is more to tell how it is written. */
function isBetter(a: Candidate, b: Candidate): boolean {
  return a.tier < b.tier || (a.tier === b.tier && (a.recordCount ?? 0) > (b.recordCount ?? 0));
}

/** Keeps the better one if two sources suggest the same query for a list. */
function withoutRepetition(queries: readonly Candidate[]): Candidate[] {
  const best = new Map<string, Candidate>();
  for (const query of queries) {
    const key = queryOfList(query, query.listName);
    const known = best.get(key);
    if (known === undefined || query.tier < known.tier) best.set(key, query);
  }
  return [...best.values()];
}

function foldedOf({ folded, text }: Suggestion): string {
  return folded ?? text.toLowerCase();
}

function queryOfList(query: Suggestion, listName: string | undefined): string {
  return `${listName ?? ''} ${foldedOf(query)}`;
}

function resource({ kind, recordCount, listName, written }: Candidate) {
  const { text, highlight } = written();
  return {
    text,
    kind,
    highlight,
    ...(kind === 'query' ? { record_count: recordCount } : {}),
    ...(kind === 'record' && listName !== undefined ? { list_name: listName } : {}),
  };
}
