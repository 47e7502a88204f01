/** Names of records that begin like what was typed, or have a word that does. Belongs to one thread. */
import type { GenerationHandle, Kernel, NameSuggestion } from '../../../native-bindings/index.js';
import { NAME_COLUMN } from '../../index/segments/kernel-layout.js';
import { foldFacetValue } from '../../platform/index.js';
import type { RecordStoreCache } from '../../records/index.js';
import type { ListContext } from '../execution/list-context.js';
import { marked, markedAround, typedRange } from './marking.js';
import { NameFinder } from './name-finder.js';
import {
  editsAllowed,
  SUGGESTION_TIERS,
  type Suggestion,
  type SuggestionRequest,
  type SuggestionSource,
} from './suggestion-source.js';

/** The index still holds names of deleted records: more are asked for than are wanted, and more again if they do not do. */
const NAMES_ASKED: readonly number[] = [64, 1024];
const TIERS = {
  start: SUGGESTION_TIERS.nameStart,
  word: SUGGESTION_TIERS.nameWord,
  typo: SUGGESTION_TIERS.corrected,
} as const;

export class RecordNameSource implements SuggestionSource {
  private readonly finder: NameFinder;

  constructor(
    private readonly kernel: Pick<Kernel, 'suggestNames'>,
    private readonly stores: RecordStoreCache,
  ) {
    this.finder = new NameFinder(kernel);
  }

  suggest(list: ListContext, generation: GenerationHandle, request: SuggestionRequest): readonly Suggestion[] {
    const typed = foldFacetValue(request.text.trim().replace(/\s+/gu, ' '));
    if (typed === '') return [];
    const { size } = request;
    const found = this.live(list, size, (limit) => this.finder.find(generation, typed, limit));
    const edits = editsAllowed(typed, request.typoTolerance);
    if (found.length > 0 || edits === 0) return found.map((match) => suggestionOf(match, typed));
    // Somebody whose words lead nowhere may have misspelt them.
    const near = this.live(list, size, (limit) =>
      this.kernel.suggestNames(generation, NAME_COLUMN, typed, edits, limit),
    );
    return near.map((match) => suggestionOf(match, typed));
  }

  /** The first ones that records still have. */
  private live(
    { settings }: ListContext,
    size: number,
    find: (limit: number) => readonly NameSuggestion[],
  ): NameSuggestion[] {
    const store = this.stores.get(settings.listPath).version(settings.version);
    for (const limit of NAMES_ASKED) {
      const names = find(limit);
      const found: NameSuggestion[] = [];
      for (const match of names) {
        if (found.length >= size) break;
        if (store.recordNumberOfName(match.name) !== undefined) found.push(match);
      }
      if (found.length >= size || names.length < limit || limit === NAMES_ASKED.at(-1)) return found;
    }
    return [];
  }
}

function suggestionOf({ name, kind }: NameSuggestion, typed: string): Suggestion {
  const range = kind === 'typo' ? undefined : typedRange(name, typed, foldFacetValue);
  return {
    text: name,
    kind: 'record',
    highlight: range === undefined ? marked(name) : markedAround(name, range.begin, range.end),
    tier: TIERS[kind],
  };
}
