/**
 * Where suggestions come from. Each source looks at one list and answers its best ones in order; `suggest-executor.ts` puts
 * the answers of all sources and lists together.
 */
import type { GenerationHandle } from '../../../native-bindings/index.js';
import type { ListContext } from '../execution/list-context.js';
import type { LearnedFrom } from '../types.js';

export type SuggestionKind = 'record' | 'query';

export interface Suggestion {
  readonly text: string;
  /** `record`: the name of a record; `query`: something to search for. */
  readonly kind: SuggestionKind;
  /** The text, HTML-escaped, with what was not typed in <em>. */
  readonly highlight: string;
  /** How well it fits what was typed; smaller is better, over all sources. */
  readonly tier: SuggestionTier;
  /** Of a query: records that hold all of its words. */
  readonly recordCount?: number;
  /** Of an earlier search: how often it was made. */
  readonly popularity?: number;
}

export const SUGGESTION_TIERS = { earlier: 0, nameStart: 1, word: 2, nameWord: 3, corrected: 4 } as const;
export type SuggestionTier = (typeof SUGGESTION_TIERS)[keyof typeof SUGGESTION_TIERS];

export interface SuggestionRequest {
  /** As typed so far, without blanks at its beginning. */
  readonly text: string;
  /** Suggestions wanted; more than so many of one list are never shown. */
  readonly size: number;
  readonly typoTolerance: boolean;
  /** Where to look for earlier searches of the list; undefined: nowhere. */
  readonly learned?: LearnedFrom | undefined;
}

export interface SuggestionSource {
  suggest(list: ListContext, generation: GenerationHandle, request: SuggestionRequest): readonly Suggestion[];
}

const EDIT_1_CHARACTERS_MIN = 4;
const EDITS_2_CHARACTERS_MIN = 8;

/** As searches forgive: 1 edit from 4 letters, 2 from 8, none where there is a digit. */
export function editsAllowed(text: string, typoTolerance: boolean): number {
  if (!typoTolerance || /\p{N}/u.test(text)) return 0;
  const { length } = [...text];
  if (length < EDIT_1_CHARACTERS_MIN) return 0;
  return length < EDITS_2_CHARACTERS_MIN ? 1 : 2;
}
