/**
 * Limits how often something may happen within a sliding window, counted per account. Main thread only.
 *
 * The window is exact to 1/6000 of its length (10 ms for a minute): each account has a ring of counts, one for each
 * such slot in which anything happened, and slots that have left the window are dropped. A refused attempt does not
 * count, so that a client that keeps trying is admitted as soon as one that waits.
 *
 * A ring grows with the slots that it has, up to 72 KB. An account that is idle for two windows is forgotten.
 */
import type { Clock } from '../platform/index.js';

const SLOTS_PER_WINDOW = 6000;
/** Slots of a new ring: few enough for V8 to keep them within the object, 64 bytes. */
const SLOTS_AT_FIRST = 8;

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
  /** Accounts used since `#turnedAt`. */
  #recent = new Map<string, SlotRing>();
  /** Accounts last used in the window before `#turnedAt`. */
  #earlier = new Map<string, SlotRing>();
  #turnedAt = 0;

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
    const nowMs = this.#clock.nowMs();
    const slot = Math.floor(nowMs / this.#slotMs);
    this.#forgetIdle(slot);
    const ring = this.#ringOf(account);
    ring.advanceTo(slot);
    if (ring.total < this.#limit) {
      ring.count(slot);
      return ALLOWED;
    }
    const freeAtMs = (ring.oldestSlot + SLOTS_PER_WINDOW) * this.#slotMs;
    return { allowed: false, retryAfterSeconds: Math.max(1, Math.ceil((freeAtMs - nowMs) / 1000)) };
  }

  /** Number of accounts that something is remembered of. */
  get accountCount(): number {
    return this.#recent.size + this.#earlier.size;
  }

  /** Forgets, once in a window, accounts all of whose slots have left it. Looks at none of them. */
  #forgetIdle(slot: number): void {
    const passed = slot - this.#turnedAt;
    if (passed < -1) {
      // The clock was set back: nothing is known to have left the window.
      this.#turnedAt = slot;
      return;
    }
    if (passed < SLOTS_PER_WINDOW) return;
    this.#earlier = passed < 2 * SLOTS_PER_WINDOW ? this.#recent : new Map<string, SlotRing>();
    this.#recent = new Map();
    this.#turnedAt = slot;
  }

  #ringOf(account: string): SlotRing {
    const recent = this.#recent.get(account);
    if (recent !== undefined) return recent;
    const ring = this.#earlier.get(account) ?? new SlotRing();
    this.#earlier.delete(account);
    this.#recent.set(account, ring);
    return ring;
  }
}

/** Counts by slot, oldest first, in a circular buffer that never has more slots than a window. */
class SlotRing {
  total = 0;
  #slots = new Float64Array(SLOTS_AT_FIRST);
  #counts = new Uint32Array(SLOTS_AT_FIRST);
  #first = 0;
  #length = 0;

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
    if (this.#length === this.#slots.length) this.#grow();
    const next = this.#index(this.#length);
    this.#slots[next] = slot;
    this.#counts[next] = 1;
    this.#length++;
  }

  #grow(): void {
    const capacity = Math.min(SLOTS_PER_WINDOW, 2 * this.#slots.length);
    const [slots, counts] = [new Float64Array(capacity), new Uint32Array(capacity)];
    for (let offset = 0; offset < this.#length; offset++) {
      const at = this.#index(offset);
      slots[offset] = this.#slots[at] ?? 0;
      counts[offset] = this.#counts[at] ?? 0;
    }
    [this.#slots, this.#counts, this.#first] = [slots, counts, 0];
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
