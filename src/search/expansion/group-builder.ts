/**
 * Collects the alternatives of one query word, up to a number of terms. Each form is kept once; the first one added
 * wins.
 */
import type { Alternative } from '../plan/plan-nodes.js';

/** Part of `applied.typos`: a word of the query, and the terms it was also taken for, most plausible first. */
export interface AppliedTypo {
  readonly word: string;
  readonly terms: readonly string[];
}

const SEPARATOR = '\u0000';

export class GroupBuilder {
  /** What the word was also taken for. */
  typo: AppliedTypo | undefined;
  readonly #alternatives = new Map<string, Alternative>();
  #terms = 0;

  /** The word as typed is the first alternative, even if `termsMax` leaves no room. */
  constructor(
    readonly word: string,
    private readonly termsMax: number,
  ) {
    this.#put({ kind: 'typed', weight: 1, terms: [word] });
  }

  /** Adds an alternative. Returns false if there is no room or the same terms were added before. */
  add(alternative: Alternative): boolean {
    if (this.#terms + alternative.terms.length > this.termsMax) return false;
    if (this.#alternatives.has(keyOf(alternative))) return false;
    this.#put(alternative);
    return true;
  }

  has(kind: Alternative['kind']): boolean {
    return [...this.#alternatives.values()].some((alternative) => alternative.kind === kind);
  }

  alternatives(): readonly Alternative[] {
    return Object.freeze([...this.#alternatives.values()]);
  }

  #put({ kind, weight, terms }: Alternative): void {
    const alternative = Object.freeze({ kind, weight, terms: Object.freeze([...terms]) });
    this.#alternatives.set(keyOf(alternative), alternative);
    this.#terms += terms.length;
  }
}

function keyOf({ terms }: Alternative): string {
  return terms.length === 1 ? (terms[0] as string) : terms.join(SEPARATOR);
}
