/**
 * Attempts to sign in by OpenID Connect. Nothing is stored until one comes back: everything is derived from the token
 * in the browser and a secret of this process. So nobody can evict the attempts of others by beginning many.
 *
 * A token consists of its start time, random bytes, and an authentication code (MAC). Main thread only.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { BoundedMap, type Clock } from '../platform/index.js';

const TIME_BYTES = 6;
const CHANCE_BYTES = 10;
const MARKED_BYTES = TIME_BYTES + CHANCE_BYTES;
const MARK_BYTES = 16;
const SECRET_BYTES = 32;
const ATTEMPT_MS_MAX = 10 * 60_000;
/** Only finished attempts are stored, and an address may fail only a few times a minute. */
const USED_MAX = 10_000;

export interface OpenIdAttempt {
  readonly state: string;
  readonly nonce: string;
  /** Code verifier of PKCE: 43 characters. */
  readonly verifier: string;
}

export class OpenIdAttempts {
  readonly #secret = randomBytes(SECRET_BYTES);
  /** MACs of finished attempts. */
  readonly #used = new BoundedMap<string, true>(USED_MAX);

  constructor(readonly clock: Clock) {}

  /**
   * Begins an attempt. `flow` is for the browser only; `attempt` is sent to the provider and does not reveal `flow`.
   */
  begin(): { readonly flow: string; readonly attempt: OpenIdAttempt } {
    const token = Buffer.alloc(MARKED_BYTES + MARK_BYTES);
    token.writeUIntBE(this.clock.nowMs(), 0, TIME_BYTES);
    randomBytes(CHANCE_BYTES).copy(token, TIME_BYTES);
    this.#mark(token).copy(token, MARKED_BYTES);
    return { flow: token.toString('base64url'), attempt: this.#attempt(token) };
  }

  /**
   * Returns the attempt and marks it as used. Undefined if this process did not begin it, it is older than ten minutes,
   * or it was used before.
   */
  useUp(flow: string): OpenIdAttempt | undefined {
    const token = Buffer.from(flow, 'base64url');
    if (token.length !== MARKED_BYTES + MARK_BYTES) return undefined;
    const mark = token.subarray(MARKED_BYTES);
    if (!timingSafeEqual(mark, this.#mark(token))) return undefined;
    // Stores the MAC, not the text: several texts decode to the same bytes, since the last character has unused bits.
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
