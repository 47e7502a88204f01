import { Patience } from './patience.js';

const POLL_MS = 20;
/** Only what never comes true takes so long; a busy machine may be slow. */
const WAIT_MS_MAX = 100_000;

/** Tries until the value is as wanted, and resolves with it; rejects after 100 s of trying. */
export async function eventually<T>(read: () => Promise<T>, isWanted: (value: T) => boolean): Promise<T> {
  const patience = new Patience(WAIT_MS_MAX);
  for (;;) {
    const value = await read();
    if (isWanted(value)) return value;
    if (patience.isOver()) throw new Error(`It did not come true: ${JSON.stringify(value)?.slice(0, 1000)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
