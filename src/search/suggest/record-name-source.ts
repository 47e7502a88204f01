/** Suggests names of records that begin with the typed text, or have a word that does. Belongs to one thread. */
import type { GenerationHandle, Kernel, NameSuggestion } from '../../../native-bindings/index.js';
import { parseResult, QueryPlanWriter } from '../../../native-bindings/query-plan.js';
import { NAME_COLUMN } from '../../index/segments/kernel-layout.js';
import { foldFacetValue } from '../../platform/index.js';
import { decodeRecord, type RecordStoreCache, type VersionStore } from '../../records/index.js';
import type { ListContext } from '../execution/list-context.js';
import { marked, markedAround, typedRange } from './marking.js';
import { NameFinder } from './name-finder.js';
import {
  editsAllowed,
  SUGGESTION_TIERS,
  type Suggestion,
  type SuggestionRequest,
  type SuggestionSource,
  type Written,
} from './suggestion-source.js';

/** Names asked for, in two attempts. More than wanted, since the index still has the names of deleted records. */
const NAMES_ASKED: readonly number[] = [64, 1024];
/**
 * Searches per request for records whose names differ only in case. Beyond it, names that no record has are skipped.
 */
const LOOKUPS_MAX = 32;

interface Wanted {
  readonly list: ListContext;
  readonly generation: GenerationHandle;
  readonly size: number;
}

const TIERS = {
  start: SUGGESTION_TIERS.nameStart,
  word: SUGGESTION_TIERS.nameWord,
  typo: SUGGESTION_TIERS.corrected,
} as const;

export class RecordNameSource implements SuggestionSource {
  private readonly finder: NameFinder;
  private readonly planWriter = new QueryPlanWriter();

  constructor(
    private readonly kernel: Pick<Kernel, 'suggestNames' | 'search'>,
    private readonly stores: RecordStoreCache,
  ) {
    this.finder = new NameFinder(kernel);
  }

  suggest(list: ListContext, generation: GenerationHandle, request: SuggestionRequest): readonly Suggestion[] {
    const typed = foldFacetValue(request.text.trim().replace(/\s+/gu, ' '));
    if (typed === '') return [];
    const { size } = request;
    const wanted = { list, generation, size };
    const found = this.live(wanted, (limit) => this.finder.find(generation, typed, limit));
    const edits = editsAllowed(typed, request.typoTolerance);
    if (found.length > 0 || edits === 0) return found.map((match) => suggestionOf(match, typed));
    // The words find no name, so they may be misspelt.
    const near = this.live(wanted, (limit) => this.kernel.suggestNames(generation, NAME_COLUMN, typed, edits, limit));
    return near.map((match) => suggestionOf(match, typed));
  }

  /** Returns the first names that live records have. */
  private live(wanted: Wanted, find: (limit: number) => readonly NameSuggestion[]): NameSuggestion[] {
    const { settings } = wanted.list;
    const store = this.stores.get(settings.listPath).version(settings.version);
    for (const limit of NAMES_ASKED) {
      let lookups = 0;
      const names = find(limit);
      const found = new Map<string, NameSuggestion>();
      for (const match of names) {
        if (found.size >= wanted.size) break;
        // The index may keep one name for records whose names differ only in case, and it may be the name of a deleted
        // one.
        const isThere = store.recordNumberOfName(match.name) !== undefined;
        const isLookedUp = (match.isShared || !isThere) && (lookups += 1) <= LOOKUPS_MAX;
        const alike = isLookedUp ? this.namesLike(wanted, store, match.name) : isThere ? [match.name] : [];
        for (const name of alike) found.set(name, { ...match, name });
      }
      if (found.size >= wanted.size || names.length < limit || limit === NAMES_ASKED.at(-1))
        return [...found.values()].slice(0, wanted.size);
    }
    return [];
  }

  /** Returns the names of records that equal this name except for case, sorted. */
  private namesLike({ list, generation, size }: Wanted, store: VersionStore, name: string): string[] {
    const column = list.layout.column(NAME_COLUMN);
    if (column === undefined) throw new Error('a layout has no column of names');
    const plan = this.planWriter.write({
      needTotal: false,
      storageOrder: true,
      skip: 0,
      size,
      groups: [],
      filter: { op: '=', column, value: foldFacetValue(name) },
      sort: [],
      facets: [],
    });
    const { hits } = parseResult(this.kernel.search(generation, plan));
    const names = Array.from({ length: hits.count }, (_, hit) => {
      const bytes = store.record(hits.recordNumber(hit));
      return bytes === undefined ? [] : [decodeRecord(bytes).name];
    });
    return names.flat().sort();
  }
}

function suggestionOf(match: NameSuggestion, typed: string): Suggestion {
  return { text: match.name, kind: 'record', written: () => written(match, typed), tier: TIERS[match.kind] };
}

function written({ name, kind }: NameSuggestion, typed: string): Written {
  const range = kind === 'typo' ? undefined : typedRange(name, typed, foldFacetValue);
  return { text: name, highlight: range === undefined ? marked(name) : markedAround(name, range.begin, range.end) };
}
