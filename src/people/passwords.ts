/**
 * Passwords as argon2id, with the parameters that OWASP recommends (19 MiB, two passes, one lane: some 45 ms of a processor).
 * One is computed at a time: the threads that would compute more are those that write to disk.
 */
import { randomBytes } from 'node:crypto';
import type * as Argon2Library from '@node-rs/argon2';
import { ServiceError } from '../platform/index.js';

type Argon2 = Pick<typeof Argon2Library, 'hash' | 'verify'>;

const PARAMETERS = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
export const PASSWORD_CHARACTERS_MIN = 10;
export const PASSWORD_CHARACTERS_MAX = 256;
const SALT_BYTES = 16;
const DIGEST_BYTES = 32;
/** More sign-ins than this at once are refused; each waits for those before it. */
export const WAITING_MAX = 100;

export class Passwords {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #nobodys = nobodysHash();

  /** Rejects with `overloaded`. */
  hash(password: string): Promise<string> {
    return this.#inTurn(async (argon2) => argon2.hash(normal(password), PARAMETERS));
  }

  /** Takes the same time for a person who has no password, or does not exist (`kept` null): false then. Rejects with `overloaded`. */
  async verify(kept: string | null, password: string): Promise<boolean> {
    const isRight = await this.#inTurn((argon2) => argon2.verify(kept ?? this.#nobodys, normal(password)));
    return isRight && kept !== null;
  }

  #inTurn<Result>(work: (argon2: Argon2) => Promise<Result>): Promise<Result> {
    if (this.#waiting >= WAITING_MAX) {
      throw new ServiceError('overloaded', 'Too many people sign in at this moment.', { retryAfterSeconds: 5 });
    }
    this.#waiting += 1;
    // Loaded when somebody signs in: a service that never sees a person pays nothing for it.
    const result = this.#last.then(async () => work(await import('@node-rs/argon2')));
    this.#last = result
      .catch(() => undefined)
      .finally(() => {
        this.#waiting -= 1;
      });
    return result;
  }
}

/**
 * Of no password, with the parameters of all others. It is not computed: the first who names an e-mail that nobody has would wait twice as long
 * as somebody whose e-mail is known.
 */
function nobodysHash(): string {
  const { memoryCost, timeCost, parallelism } = PARAMETERS;
  const [salt, digest] = [SALT_BYTES, DIGEST_BYTES].map((size) =>
    randomBytes(size).toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${digest}`;
}

/** The same password from every keyboard: what looks alike is one text. */
function normal(password: string): string {
  return password.normalize('NFKC');
}
