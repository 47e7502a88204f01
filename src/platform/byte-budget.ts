/**
 * A shared budget of bytes. Users reserve bytes before they use them; without room, they wait for a limited time, in
 * order of arrival among reservations of the same size class, and are refused after it. A part is kept for small
 * reservations, so that they do not starve behind large ones. Main thread only.
 */
import { ServiceError } from './errors.js';

const RETRY_AFTER_SECONDS = 1;

export interface ByteBudgetOptions {
  readonly bytesMax: number;
  /** Reservations of at most this many bytes are small. */
  readonly smallBytesMax: number;
  /** Bytes of `bytesMax` that only small reservations may use. */
  readonly keptForSmallBytes: number;
  /** Number of reservations that may wait in each size class; bounded since waiters hold memory too. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** What has used up the budget, for the refusal: `Bodies that are being received take all memory`. */
  readonly full: string;
}

export interface Reservation {
  /** Undefined if there was room at once. Rejects with `overloaded` if there was none within `waitMs`. */
  readonly ready: Promise<void> | undefined;
  /** Gives back all but `bytes`. */
  shrinkTo(bytes: number): void;
  /** Gives everything back, or stops waiting; safe to call twice. */
  release(): void;
}

export class ByteBudget {
  private readonly small: Holding[] = [];
  private readonly large: Holding[] = [];
  private used = 0;
  /** Called if there is no room, before anybody waits: a listener may free bytes that are held for too long. */
  onShort: (() => void) | undefined;

  constructor(private readonly options: ByteBudgetOptions) {}

  /** Bytes that are reserved now. */
  get usedBytes(): number {
    return this.used;
  }

  get waiting(): number {
    return this.small.length + this.large.length;
  }

  /**
   * Reserves `wanted` bytes, or the most that a reservation of its size class may have, so that each one can succeed
   * when it is alone. Throws `overloaded` if too many already wait.
   */
  reserve(wanted: number): Reservation {
    const { bytesMax, keptForSmallBytes, smallBytesMax, waitingMax } = this.options;
    const isSmall = wanted <= smallBytesMax;
    const bytes = Math.min(wanted, isSmall ? bytesMax : bytesMax - keptForSmallBytes);
    const holding = new Holding(this, bytes, isSmall);
    const queue = isSmall ? this.small : this.large;
    if (queue.length === 0 && (this.hasRoom(holding) || this.hasRoomAfterAll(holding))) {
      this.used += bytes;
      return holding;
    }
    if (queue.length >= waitingMax) throw this.refusal();
    queue.push(holding);
    holding.wait(this.options.waitMs);
    return holding;
  }

  /**
   * Reserves bytes that are in memory already: at once, ahead of all that wait. Returns undefined if there is no room.
   */
  tryReserve(bytes: number): Reservation | undefined {
    const holding = new Holding(this, bytes, bytes <= this.options.smallBytesMax);
    if (!this.hasRoom(holding) && !this.hasRoomAfterAll(holding)) return undefined;
    this.used += bytes;
    return holding;
  }

  /** Only called by `Holding`. */
  giveBack(bytes: number): void {
    this.used -= bytes;
    this.admit();
  }

  /** Only called by a `Holding` that no longer waits. */
  leave(holding: Holding): void {
    const queue = holding.isSmall ? this.small : this.large;
    const place = queue.indexOf(holding);
    if (place !== -1) queue.splice(place, 1);
    // The next in the queue may be smaller and fit.
    this.admit();
  }

  refusal(): ServiceError {
    const detail = `${this.options.full}; try again in a second.`;
    return new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }

  private hasRoom({ bytes, isSmall }: Holding): boolean {
    const { bytesMax, keptForSmallBytes } = this.options;
    return this.used + bytes <= (isSmall ? bytesMax : bytesMax - keptForSmallBytes);
  }

  private hasRoomAfterAll(holding: Holding): boolean {
    this.onShort?.();
    return this.hasRoom(holding);
  }

  private admit(): void {
    for (const queue of [this.small, this.large]) {
      for (let first = queue[0]; first !== undefined && this.hasRoom(first); first = queue[0]) {
        queue.shift();
        this.used += first.bytes;
        first.begin();
      }
    }
  }
}

class Holding implements Reservation {
  ready: Promise<void> | undefined;
  private settle: { readonly resolve: () => void; readonly reject: (error: unknown) => void } | undefined;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly budget: ByteBudget,
    public bytes: number,
    readonly isSmall: boolean,
  ) {}

  wait(ms: number): void {
    this.ready = new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
    // Prevents an unhandled rejection if the owner releases while it waits and no longer awaits `ready`.
    this.ready.catch(() => undefined);
    this.timer = setTimeout(() => {
      this.stopWaiting(this.budget.refusal());
    }, ms);
  }

  begin(): void {
    clearTimeout(this.timer);
    this.settle?.resolve();
    this.settle = undefined;
  }

  shrinkTo(bytes: number): void {
    if (this.settle !== undefined || bytes >= this.bytes) return;
    const less = this.bytes - bytes;
    this.bytes = bytes;
    this.budget.giveBack(less);
  }

  release(): void {
    if (this.settle === undefined) this.shrinkTo(0);
    else this.stopWaiting(this.budget.refusal());
  }

  private stopWaiting(error: ServiceError): void {
    const { settle } = this;
    if (settle === undefined) return;
    clearTimeout(this.timer);
    this.settle = undefined;
    this.bytes = 0;
    this.budget.leave(this);
    settle.reject(error);
  }
}
