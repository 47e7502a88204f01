/**
 * A text that must not be seen, such as a signing key, password or token of another service. Printing, logging,
 * converting to JSON or copying to another thread gives a placeholder; only `reveal` gives the text.
 */
import { inspect } from 'node:util';

const PLACEHOLDER = '[secret]';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Returns the text: only for the place that needs it, never to be stored elsewhere. */
  reveal(): string {
    return this.#text;
  }

  toString(): string {
    return PLACEHOLDER;
  }

  toJSON(): string {
    return PLACEHOLDER;
  }

  [inspect.custom](): string {
    return PLACEHOLDER;
  }
}
