import { Patience } from './patience.js';

/** Between two looks: a tenth of what was waited until then, so that who waits for long takes little of the processor that others need. */
const WAITED_SHARE = 0.1;
const POLL_MS_MIN = 5;
/** What is there for no longer is to be held up by the test, and not looked for. */
const POLL_MS_MAX = 100;
/** Only what never comes true takes so long; a busy machine may be slow. */
const WAIT_MS_MAX = 100_000;

/** Tries until the value is as wanted, and resolves with it; rejects after 100 s of trying. */
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
