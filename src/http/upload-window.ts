/**
 * Limits the received but unconsumed bytes that the bodies of many uploads hold together. When the window is full, all
 * of them are paused; a body continues when its consumer has taken everything and there is room again. A slow body
 * holds nothing, so any number of those can share the window. Main thread only.
 */

/** The window's view of a body. */
export interface WindowedBody {
  /** Nothing more is to be received until the consumer has taken what has arrived. */
  hold(): void;
  /** Receiving may go on, because there is room again. */
  proceed(): void;
}

export class UploadWindow {
  private readonly bodies = new Set<WindowedBody>();
  private readonly waiting = new Set<WindowedBody>();
  private heldBytes = 0;

  /** `onLeft`: called when a body receives nothing any more. */
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

  /** Adds a body, which is paused when the window is full. */
  enter(body: WindowedBody): void {
    this.bodies.add(body);
  }

  /** Removes a body that receives nothing any more; it gives back what it holds by itself. */
  leave(body: WindowedBody): void {
    this.bodies.delete(body);
    this.waiting.delete(body);
    this.onLeft();
  }

  /** Counts received bytes. */
  take(bytes: number): void {
    const wasFull = this.isFull;
    this.heldBytes += bytes;
    if (!wasFull && this.isFull) for (const body of this.bodies) body.hold();
  }

  /** Gives back consumed or dropped bytes. */
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
