/**
 * End of a call: its time has run out, or the caller has left. The AbortSignal is only created for those that wait for
 * it: most calls end before, and a signal costs as much as everything else kept for a call.
 */
import { OutboundFailedError } from './outbound-error.js';

export class CallEnd {
  /** Called once when the call is over; set by the current exchange, of which there is one at a time. */
  private onOver: ((reason: Error) => void) | undefined;
  private over: { readonly reason: Error } | undefined;
  private controller: AbortController | undefined;
  private readonly timer: NodeJS.Timeout;
  private readonly onLeft = () => {
    this.end(this.asked?.reason as Error);
  };

  constructor(
    totalMs: number,
    /** Signal of the caller. */
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

  /** Sets the listener, replacing the previous one; calls it at once if the call is over. */
  tell(onOver: ((reason: Error) => void) | undefined): void {
    this.onOver = onOver;
    if (this.over !== undefined) onOver?.(this.over.reason);
  }

  /** Stops the timer and listeners; the call is complete. */
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
