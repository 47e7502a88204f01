import { Patience } from './patience.js';

/** Pause between two checks, as a share of the time waited so far, so that a long wait takes little CPU time. */
const WAITED_SHARE = 0.1;
const POLL_MS_MIN = 5;
/** A state that lasts no longer has to be held by the test, not polled for. */
const POLL_MS_MAX = 100;
/** Only reached by what never comes true; a busy machine may be slow. */
const WAIT_MS_MAX = 100_000;

/** Repeats until the value is as wanted, and resolves with it. Rejects after 100 s. */
export async function eventually<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  const patience = new Patience(WAIT_MS_MAX);
  const beganMs = performance.now();
  for (;;) {
    const value = await read();
    if (isWanted(value)) return value;
    if (patience.isOver()) throw new Error(`It did not come true: ${JSON.stringify(value)?.slice(0, 1000)}`);
    const waitedMs = performance.now() - beganMs;
    const pauseMs = Math.min(Math.max(waitedMs * WAITED_SHARE, POLL_MS_MIN), POLL_MS_MAX);
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
