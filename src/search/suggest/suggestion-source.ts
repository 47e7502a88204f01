/**
 * Interface of the sources of suggestions. Each source looks at one list and returns its best suggestions in order;
 * `suggest-executor.ts` merges those of all sources and lists.
 */
import type { GenerationHandle } from '../../../native-bindings/index.js';
import type { ListContext } from '../execution/list-context.js';
import type { LearnedFrom } from '../types.js';

export type SuggestionKind = 'record' | 'query';

/** How a suggestion is shown. */
export interface Written {
  readonly text: string;
  /** The text, HTML-escaped, with what was not typed in <em>. */
  readonly highlight: string;
}

export interface Suggestion {
  /** A name, or a query with words as an index has them: what is counted, and compared with other suggestions. */
  readonly text: string;
  /** `record`: the name of a record; `query`: something to search for. */
  readonly kind: SuggestionKind;
  /** Folded text of a query: two queries of the same are one. Default: the text in lower case. */
  readonly folded?: string;
  /** Returns it as it is shown: as records write its words, for which some of them may be read. */
  readonly written: () => Written;
  /** How well it fits the typed text. Smaller is better, over all sources. */
  readonly tier: SuggestionTier;
  /** Number of records with all words of the query. Undefined for record names. */
  readonly recordCount?: number;
  /** How often an earlier search was made. */
  readonly popularity?: number;
}

export const SUGGESTION_TIERS = { earlier: 0, nameStart: 1, word: 2, nameWord: 3, corrected: 4 } as const;
export type SuggestionTier = (typeof SUGGESTION_TIERS)[keyof typeof SUGGESTION_TIERS];

export interface SuggestionRequest {
  /** Text typed so far, without leading blanks. */
  readonly text: string;
  /** Number of suggestions wanted, and most that are shown of one list. */
  readonly size: number;
  readonly typoTolerance: boolean;
  /** Earlier searches of the list to use. Undefined for none. */
  readonly learned?: LearnedFrom | undefined;
}

export interface SuggestionSource {
  suggest(list: ListContext, generation: GenerationHandle, request: SuggestionRequest): readonly Suggestion[];
}

const EDIT_1_CHARACTERS_MIN = 4;
const EDITS_2_CHARACTERS_MIN = 8;

/** Returns the number of edits forgiven, as in searches: 1 from 4 letters, 2 from 8, none with a digit. */
export function editsAllowed(text: string, typoTolerance: boolean): number {
  if (!typoTolerance || /\p{N}/u.test(text)) return 0;
  const { length } = [...text];
  if (length < EDIT_1_CHARACTERS_MIN) return 0;
  return length < EDITS_2_CHARACTERS_MIN ? 1 : 2;
}
