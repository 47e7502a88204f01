/**
 * Puts answers that several operations share, mostly errors, into the document's components once: repeated, they would
 * be half of the document.
 */

type Json = Readonly<Record<string, unknown>>;

/** Answers of an operation, by status. */
export type Answers = Readonly<Record<string, Json>>;

export class SharedAnswers {
  /** By content, in the order in which they were seen. */
  readonly #names = new Map<string, { readonly name: string; readonly answer: Json }>();

  constructor(all: Iterable<Answers>) {
    const seen = new Set<string>();
    const variants = new Map<string, number>();
    for (const answers of all) {
      for (const [status, answer] of Object.entries(answers)) {
        const text = keyOf(status, answer);
        if (seen.has(text) && !this.#names.has(text)) {
          const variant = (variants.get(status) ?? 0) + 1;
          variants.set(status, variant);
          this.#names.set(text, { name: `Answer${status}${variant === 1 ? '' : `-${variant}`}`, answer });
        }
        seen.add(text);
      }
    }
  }

  /** Returns the answers with references in place of shared ones. */
  referredTo(answers: Answers): Answers {
    return Object.fromEntries(
      Object.entries(answers).map(([status, answer]) => {
        const shared = this.#names.get(keyOf(status, answer));
        return [status, shared === undefined ? answer : { $ref: `#/components/responses/${shared.name}` }];
      }),
    );
  }

  components(): Json {
    return Object.fromEntries(Array.from(this.#names.values(), ({ name, answer }) => [name, answer]));
  }
}

function keyOf(status: string, answer: Json): string {
  return `${status} ${JSON.stringify(answer)}`;
}
