/**
 * What a client still sends of a request that is answered already is read and dropped before its connection is closed. Closed at once, the
 * system would tell the client of a reset when its next piece comes, and throw away the answer that it has not read yet.
 */
import type { WireResponse } from './wire.js';

/** Half of the shortest time after which the library closes whoever sends nothing, or too little. */
const LOOK_INTERVAL_MS = 4000;
/** As long as answers have that are taken slowly: a client that was held up goes on, and one that is gone says nothing of it. */
const QUIET_LOOKS_MAX = 30_000 / LOOK_INTERVAL_MS;
/** Two minutes, however slowly something comes. */
const LOOKS_MAX = 120_000 / LOOK_INTERVAL_MS;
/** The answer says that the connection is closed: who sends on after this much never looks. */
const LINGER_BYTES_MAX = 268_435_456;

/** Of a rest that need not come: nothing of it for so long, and it is over. */
const PAUSE_MS_MAX = 2000;

export interface Rest {
  /** False: its client has stopped sending, and may go on just now or never. */
  readonly isAwaited: boolean;
}

/** Calls `end` when the rest is there, or is too much or too late. Returns what is to be called when the connection is gone. */
export function dropRest(res: WireResponse, { isAwaited }: Rest, end: () => void): () => void {
  let [bytes, seenBytes, looks, quietLooks] = [0, 0, 0, 0];
  const timer = setInterval(() => {
    looks += 1;
    quietLooks = bytes === seenBytes ? quietLooks + 1 : 0;
    seenBytes = bytes;
    if (looks > LOOKS_MAX || quietLooks > QUIET_LOOKS_MAX) return end();
    // From here on the library waits anew.
    res.pause();
    res.resume();
  }, LOOK_INTERVAL_MS).unref();
  const pause = isAwaited ? undefined : setTimeout(end, PAUSE_MS_MAX).unref();
  res.onData((chunk, isLast) => {
    bytes += chunk.byteLength;
    pause?.refresh();
    // What is written in this turn is sent at its end.
    if (isLast || bytes > LINGER_BYTES_MAX) setImmediate(end);
  });
  return () => {
    clearInterval(timer);
    clearTimeout(pause);
  };
}
