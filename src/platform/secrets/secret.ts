/**
 * A text that must not be seen: what opens somebody else's door (signing keys, passwords, tokens). Whatever prints it, logs it,
 * turns it into JSON or copies it to another thread gets a placeholder; only `reveal` gives the text.
 */
import { inspect } from 'node:util';

const PLACEHOLDER = '[secret]';

export class Secret {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The text itself: for the one place that needs it, and never to be kept elsewhere. */
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
