/**
 * Hashes passwords with argon2id and the parameters that OWASP recommends (19 MiB, two passes, one lane: about 45 ms of
 * CPU). Only one is computed at a time, since it runs in the threads that write to disk.
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
/** Limit on waiting sign-ins; further ones are refused. */
export const WAITING_MAX = 100;

export class Passwords {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();
  readonly #nobodys = nobodysHash();

  /** Rejects with `overloaded`. */
  hash(password: string): Promise<string> {
    return this.#inTurn(async (argon2) => argon2.hash(normal(password), PARAMETERS));
  }

  /**
   * Compares a password. `kept` is null for a person without password, or one who does not exist: this takes the same
   * time and returns false. Rejects with `overloaded`.
   */
  async verify(kept: string | null, password: string): Promise<boolean> {
    const isRight = await this.#inTurn((argon2) => argon2.verify(kept ?? this.#nobodys, normal(password)));
    return isRight && kept !== null;
  }

  #inTurn<Result>(work: (argon2: Argon2) => Promise<Result>): Promise<Result> {
    if (this.#waiting >= WAITING_MAX) {
      throw new ServiceError('overloaded', 'Too many people are signing in at the moment. Try again soon.', {
        retryAfterSeconds: 5,
      });
    }
    this.#waiting += 1;
    // Loaded on first use: a service without people does not need it.
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
 * Returns the hash of no password, with the usual parameters. It is not computed: otherwise the first attempt with an
 * unknown email would take twice as long as one with a known email.
 */
function nobodysHash(): string {
  const { memoryCost, timeCost, parallelism } = PARAMETERS;
  const [salt, digest] = [SALT_BYTES, DIGEST_BYTES].map((size) =>
    randomBytes(size).toString('base64').replaceAll('=', ''),
  );
  return `$argon2id$v=19$m=${memoryCost},t=${timeCost},p=${parallelism}$${salt}$${digest}`;
}

/** Normalises a password, so that it is the same from every keyboard. */
function normal(password: string): string {
  return password.normalize('NFKC');
}
