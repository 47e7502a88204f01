/**
 * Attempts to sign in by OpenID Connect, of which nothing is kept until they come back: all that belongs to one follows from the token that
 * its browser holds and from a secret of this process. However many somebody begins, nobody else's is forgotten for them.
 *
 * A token is when it began, bytes by chance, and a mark that nobody else can make. Main thread only.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { BoundedMap, type Clock } from '../platform/index.js';

const TIME_BYTES = 6;
const CHANCE_BYTES = 10;
const MARKED_BYTES = TIME_BYTES + CHANCE_BYTES;
const MARK_BYTES = 16;
const SECRET_BYTES = 32;
const ATTEMPT_MS_MAX = 10 * 60_000;
/** Only what came back is remembered, and an address fails a few times a minute. */
const USED_MAX = 10_000;

export interface OpenIdAttempt {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE: 43 characters. */
  readonly verifier: string;
}

export class OpenIdAttempts {
  readonly #secret = randomBytes(SECRET_BYTES);
  /** Marks of those that came back. */
  readonly #used = new BoundedMap<string, true>(USED_MAX);

  constructor(readonly clock: Clock) {}

  /** `flow` is for the browser alone; the provider is told of `attempt`, which does not lead back to it. */
  begin(): { readonly flow: string; readonly attempt: OpenIdAttempt } {
    const token = Buffer.alloc(MARKED_BYTES + MARK_BYTES);
    token.writeUIntBE(this.clock.nowMs(), 0, TIME_BYTES);
    randomBytes(CHANCE_BYTES).copy(token, TIME_BYTES);
    this.#mark(token).copy(token, MARKED_BYTES);
    return { flow: token.toString('base64url'), attempt: this.#attempt(token) };
  }

  /** Undefined for what this process did not begin, ten minutes after it did, and for what came back before. */
  useUp(flow: string): OpenIdAttempt | undefined {
    const token = Buffer.from(flow, 'base64url');
    if (token.length !== MARKED_BYTES + MARK_BYTES) return undefined;
    const mark = token.subarray(MARKED_BYTES);
    if (!timingSafeEqual(mark, this.#mark(token))) return undefined;
    // The mark, and not the text: a last character has bits that no byte has.
    const used = mark.toString('hex');
    if (this.#used.has(used)) return undefined;
    this.#used.set(used, true);
    const beganMs = token.readUIntBE(0, TIME_BYTES);
    return Math.abs(this.clock.nowMs() - beganMs) > ATTEMPT_MS_MAX ? undefined : this.#attempt(token);
  }

  #attempt(token: Buffer): OpenIdAttempt {
    const of = (label: string) => this.#keyed(label, token).toString('base64url');
    return { state: of('state'), nonce: of('nonce'), verifier: of('verifier') };
  }

  #mark(token: Buffer): Buffer {
    return this.#keyed('mark', token.subarray(0, MARKED_BYTES)).subarray(0, MARK_BYTES);
  }

  #keyed(label: string, bytes: Uint8Array): Buffer {
    return createHmac('sha256', this.#secret).update(`${label} `).update(bytes).digest();
  }
}
