/**
 * Finds names by their beginning or that of one of their words. Caches results while names are typed: the names for
 * "new yo" are among those for "new y" if these were complete. Belongs to one thread.
 */
import type { GenerationHandle, Kernel, NameSuggestion } from '../../../native-bindings/index.js';
import { NAME_COLUMN } from '../../index/segments/kernel-layout.js';
import { BoundedMap, foldFacetValue } from '../../platform/index.js';
import { typedRange } from './marking.js';

/** Cached complete answers, each with fewer names than asked for. */
const ANSWERS_MAX = 2048;
/** Letters that may have been typed since a cached answer. */
const LETTERS_SINCE_MAX = 4;

export class NameFinder {
  private readonly complete = new BoundedMap<string, readonly NameSuggestion[]>(ANSWERS_MAX);

  constructor(private readonly kernel: Pick<Kernel, 'suggestNames'>) {}

  /** Returns at most `limit` names; fewer are all there are. `typed` is folded. */
  find(generation: GenerationHandle, typed: string, limit: number): readonly NameSuggestion[] {
    const earlier = this.earlier(generation, typed);
    const names =
      earlier === undefined
        ? this.kernel.suggestNames(generation, NAME_COLUMN, typed, 0, limit)
        : narrowed(earlier, typed).slice(0, limit);
    if (names.length < limit) this.remember(keyOf(generation, typed), names);
    return names;
  }

  private earlier(generation: GenerationHandle, typed: string): readonly NameSuggestion[] | undefined {
    for (let since = 0; since <= LETTERS_SINCE_MAX && since < typed.length; ++since) {
      const found = this.complete.get(keyOf(generation, typed.slice(0, typed.length - since)));
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private remember(key: string, names: readonly NameSuggestion[]): void {
    if (!this.complete.has(key)) this.complete.set(key, names);
  }
}

function keyOf(generation: GenerationHandle, typed: string): string {
  return `${generation} ${typed}`;
}

/** Returns the names that still match, those that begin with the typed text first, otherwise in the given order. */
function narrowed(names: readonly NameSuggestion[], typed: string): NameSuggestion[] {
  const starts = names.filter(({ name }) => foldFacetValue(name).startsWith(typed));
  const words = names.filter((match) => !starts.includes(match) && typedRange(match.name, typed, foldFacetValue));
  return [
    ...starts.map((match) => ({ ...match, kind: 'start' as const })),
    ...words.map((match) => ({ ...match, kind: 'word' as const })),
  ];
}
