/**
 * Limits how often something may happen within a sliding window, counted per account. Main thread only.
 *
 * The window is exact to 1/6000 of its length (10 ms for a minute): each account has a ring of counts, one for each
 * such slot in which anything happened, and slots that have left the window are dropped. A refused attempt does not
 * count, so that a client that keeps trying is admitted as soon as one that waits.
 */
import type { Clock } from '../platform/index.js';

const SLOTS_PER_WINDOW = 6000;

export type RateDecision = { readonly allowed: true } | { readonly allowed: false; readonly retryAfterSeconds: number };

export interface RateLimit {
  /** Maximum number per window. */
  readonly limit: number;
  readonly windowMs: number;
}

const ALLOWED: RateDecision = { allowed: true };

export class RateLimiter {
  readonly #limit: number;
  readonly #slotMs: number;
  readonly #clock: Clock;
  readonly #accounts = new Map<string, SlotRing>();

  constructor({ limit, windowMs }: RateLimit, clock: Clock) {
    this.#limit = limit;
    this.#slotMs = windowMs / SLOTS_PER_WINDOW;
    this.#clock = clock;
  }

  /**
   * Uses one of the account's allowance, or returns after how many whole seconds (at least 1) the next one is
   * available.
   */
  take(account: string): RateDecision {
    let ring = this.#accounts.get(account);
    if (ring === undefined) {
      ring = new SlotRing(Math.min(this.#limit, SLOTS_PER_WINDOW));
      this.#accounts.set(account, ring);
    }
    const nowMs = this.#clock.nowMs();
    const slot = Math.floor(nowMs / this.#slotMs);
    ring.advanceTo(slot);
    if (ring.total < this.#limit) {
      ring.count(slot);
      return ALLOWED;
    }
    const freeAtMs = (ring.oldestSlot + SLOTS_PER_WINDOW) * this.#slotMs;
    return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil((freeAtMs - nowMs) / 1000)) };
  }
}

/** Counts by slot, oldest first, in a circular buffer that never has more slots than a window. */
class SlotRing {
  total = 0;
  readonly #slots: Float64Array;
  readonly #counts: Uint32Array;
  #first = 0;
  #length = 0;

  constructor(capacity: number) {
    this.#slots = new Float64Array(Math.max(1, capacity));
    this.#counts = new Uint32Array(Math.max(1, capacity));
  }

  /** The oldest slot that still counts; only valid if `total` is above 0. */
  get oldestSlot(): number {
    return this.#slots[this.#first] ?? 0;
  }

  /**
   * Drops slots that are a window or more before `slot`, and all slots if the clock was set back by more than a slot.
   */
  advanceTo(slot: number): void {
    if (this.#length > 0 && slot < this.#newestSlot() - 1) this.#clear();
    while (this.#length > 0 && this.oldestSlot <= slot - SLOTS_PER_WINDOW) {
      this.total -= this.#counts[this.#first] ?? 0;
      this.#first = (this.#first + 1) % this.#slots.length;
      this.#length--;
    }
  }

  count(slot: number): void {
    this.total++;
    if (this.#length > 0 && this.#newestSlot() >= slot) {
      const newest = this.#index(this.#length - 1);
      this.#counts[newest] = (this.#counts[newest] ?? 0) + 1;
      return;
    }
    const next = this.#index(this.#length);
    this.#slots[next] = slot;
    this.#counts[next] = 1;
    this.#length++;
  }

  #newestSlot(): number {
    return this.#slots[this.#index(this.#length - 1)] ?? 0;
  }

  #index(offset: number): number {
    return (this.#first + offset) % this.#slots.length;
  }

  #clear(): void {
    this.#first = 0;
    this.#length = 0;
    this.total = 0;
  }
}
