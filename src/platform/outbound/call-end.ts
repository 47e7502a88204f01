/**
 * When a call has to be over: its time has run out, or whoever asked has left. The signal is made for those who wait for it: most calls
 * end before anybody does, and a signal costs as much as all else that is kept of a call.
 */
import { OutboundFailedError } from './outbound-error.js';

export class CallEnd {
  /** Told once; whoever is under way, one at a time. */
  private onOver: ((reason: Error) => void) | undefined;
  private over: { readonly reason: Error } | undefined;
  private controller: AbortController | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly onLeft = () => {
    this.end(this.asked?.reason as Error);
  };

  constructor(
    totalMs: number,
    /** Of whoever asked. */
    private readonly asked: AbortSignal | undefined,
  ) {
    this.timer = setTimeout(() => {
      this.end(new OutboundFailedError('total-timeout', `It took more than ${totalMs} ms.`));
    }, totalMs);
    if (asked?.aborted === true) this.onLeft();
    else asked?.addEventListener('abort', this.onLeft, { once: true });
  }

  get aborted(): boolean {
    return this.over !== undefined;
  }

  get reason(): Error | undefined {
    return this.over?.reason;
  }

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    if (this.over !== undefined) this.controller.abort(this.over.reason);
    return this.controller.signal;
  }

  /** Instead of who was told before; at once, where it is over. */
  tell(onOver: ((reason: Error) => void) | undefined): void {
    this.onOver = onOver;
    if (this.over !== undefined) onOver?.(this.over.reason);
  }

  /** Nothing is under way any more. */
  release(): void {
    clearTimeout(this.timer);
    this.asked?.removeEventListener('abort', this.onLeft);
    this.onOver = undefined;
  }

  private end(reason: Error): void {
    if (this.over !== undefined) return;
    this.over = { reason };
    this.controller?.abort(reason);
    this.onOver?.(reason);
  }
}
