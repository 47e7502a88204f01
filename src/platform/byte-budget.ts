/**
 * Bytes that many share. Whoever needs some reserves them first; who finds no room waits for a limited time, those of the same size
 * in the order in which they came, and is refused after it. A part is kept for small ones, which large ones cannot take: they
 * do not starve behind them. Main thread only.
 */
import { ServiceError } from './errors.js';

const RETRY_AFTER_SECONDS = 1;

export interface ByteBudgetOptions {
  readonly bytesMax: number;
  /** A reservation of so many bytes or fewer is a small one. */
  readonly smallBytesMax: number;
  /** Of `bytesMax`, for small ones only. */
  readonly keptForSmallBytes: number;
  /** How many may wait of each size: what they wait with takes memory too. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** What there is no room for, for the refusal: `Bodies that are being received take all memory`. */
  readonly full: string;
}

export interface Reservation {
  /** Undefined: there is room at once. Rejects with `overloaded` when there was none in time. */
  readonly ready: Promise<void> | undefined;
  /** Gives back all but so many bytes. */
  shrinkTo(bytes: number): void;
  /** Gives everything back, or stops waiting; safe to call twice. */
  release(): void;
}

export class ByteBudget {
  private readonly small: Holding[] = [];
  private readonly large: Holding[] = [];
  private used = 0;
  /** Called where there is no room, before anybody waits: somebody may know whose bytes are held for too long. */
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
   * Reserves so many bytes, or as many as one may have at most, so that each can pass when it is alone. Throws `overloaded`
   * where too many wait already.
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

  /** For bytes that are there already: reserves them at once, before all that wait, or is undefined where there is no room. */
  tryReserve(bytes: number): Reservation | undefined {
    const holding = new Holding(this, bytes, bytes <= this.options.smallBytesMax);
    if (!this.hasRoom(holding) && !this.hasRoomAfterAll(holding)) return undefined;
    this.used += bytes;
    return holding;
  }

  /** For a Holding. */
  giveBack(bytes: number): void {
    this.used -= bytes;
    this.admit();
  }

  /** For a Holding that waits no longer. */
  leave(holding: Holding): void {
    const queue = holding.isSmall ? this.small : this.large;
    const place = queue.indexOf(holding);
    if (place !== -1) queue.splice(place, 1);
    // The one behind it may be smaller.
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
    // Whoever leaves while it waits looks at it no more.
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
