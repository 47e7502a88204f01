/** Names of records that begin like what was typed, or have a word that does. Belongs to one thread. */
import type { GenerationHandle, Kernel, NameSuggestion } from '../../../native-bindings/index.js';
import { NAME_COLUMN } from '../../index/index.js';
import { foldFacetValue } from '../../platform/index.js';
import type { RecordStoreCache } from '../../records/index.js';
import type { ListContext } from '../execution/list-context.js';
import { marked, markedAround, typedRange } from './marking.js';
import {
  editsAllowed,
  SUGGESTION_TIERS,
  type Suggestion,
  type SuggestionRequest,
  type SuggestionSource,
} from './suggestion-source.js';

/** The index still holds names of deleted records: more are asked for than are wanted, once more if they do not do. */
const ASKED_PER_WANTED = [2, 32] as const;
const TIERS = {
  start: SUGGESTION_TIERS.nameStart,
  word: SUGGESTION_TIERS.nameWord,
  typo: SUGGESTION_TIERS.corrected,
} as const;

export class RecordNameSource implements SuggestionSource {
  constructor(
    private readonly kernel: Pick<Kernel, 'suggestNames'>,
    private readonly stores: RecordStoreCache,
  ) {}

  suggest(list: ListContext, generation: GenerationHandle, request: SuggestionRequest): readonly Suggestion[] {
    const typed = foldFacetValue(request.text.trim().replace(/\s+/gu, ' '));
    if (typed === '') return [];
    const { listPath, version } = list.settings;
    const store = this.stores.get(listPath).version(version);
    const names = (edits: number): NameSuggestion[] => {
      let found: NameSuggestion[] = [];
      for (const factor of ASKED_PER_WANTED) {
        const limit = request.size * factor;
        const matches = this.kernel.suggestNames(generation, NAME_COLUMN, typed, edits, limit);
        found = matches.filter(({ name }) => store.recordNumberOfName(name) !== undefined);
        if (found.length >= request.size || matches.length < limit) break;
      }
      return found.slice(0, request.size);
    };
    const found = names(0);
    const edits = editsAllowed(typed, request.typoTolerance);
    // Somebody whose words lead somewhere did not misspell them.
    const chosen = found.length > 0 || edits === 0 ? found : names(edits);
    return chosen.map((match) => suggestionOf(match, typed));
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
