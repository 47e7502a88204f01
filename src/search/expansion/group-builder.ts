/** Collects the alternatives of one query word: each form once, the first to come stays, up to a number of terms. */
import type { Alternative } from '../plan/plan-nodes.js';

/** Part of `applied.typos`: a word of the query and what it was taken for as well, the most plausible first. */
export interface AppliedTypo {
  readonly word: string;
  readonly terms: readonly string[];
}

const SEPARATOR = '\u0000';

export class GroupBuilder {
  /** What the word was taken for as well. */
  typo: AppliedTypo | undefined;
  readonly #alternatives = new Map<string, Alternative>();
  #terms = 0;

  /** The word as typed is the first alternative, whatever the bound. */
  constructor(
    readonly word: string,
    private readonly termsMax: number,
  ) {
    this.#put({ kind: 'typed', weight: 1, terms: [word] });
  }

  /** False where there was no room or the same terms were there already. */
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
