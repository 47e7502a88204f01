/**
 * What the bodies of many uploads may hold together of what has arrived and is not taken yet. When it is full, all of them are
 * paused; a body goes on when its taker has taken everything and there is room again. A body that is slow holds nothing, so that any
 * number of those share the window. Main thread only.
 */

/** A body as the window sees it. */
export interface WindowedBody {
  /** Nothing more is to arrive until somebody takes what has. */
  hold(): void;
  /** There is room again. */
  proceed(): void;
}

export class UploadWindow {
  private readonly bodies = new Set<WindowedBody>();
  private readonly waiting = new Set<WindowedBody>();
  private heldBytes = 0;

  /** `onLeft`: a body receives nothing any more. */
  constructor(
    private readonly bytesMax: number,
    private readonly onLeft: () => void = () => {},
  ) {}

  get usedBytes(): number {
    return this.heldBytes;
  }

  get isFull(): boolean {
    return this.heldBytes >= this.bytesMax;
  }

  /** From now on the body is paused when the window is full. */
  enter(body: WindowedBody): void {
    this.bodies.add(body);
  }

  /** It receives nothing any more; what it holds it gives back by itself. */
  leave(body: WindowedBody): void {
    this.bodies.delete(body);
    this.waiting.delete(body);
    this.onLeft();
  }

  /** So many bytes have arrived. */
  take(bytes: number): void {
    const wasFull = this.isFull;
    this.heldBytes += bytes;
    if (!wasFull && this.isFull) for (const body of this.bodies) body.hold();
  }

  /** So many bytes are nobody's any more. */
  giveBack(bytes: number): void {
    this.heldBytes -= bytes;
    for (const body of this.waiting) {
      if (this.isFull) return;
      this.waiting.delete(body);
      body.proceed();
    }
  }

  /** Calls `proceed` when there is room: at once, or later. */
  whenRoom(body: WindowedBody): void {
    if (this.isFull) this.waiting.add(body);
    else body.proceed();
  }
}
