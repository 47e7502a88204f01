/**
 * Reads and drops the rest of a request that is already answered, before its connection is closed. If the connection
 * were closed at once, the system would report a reset to the client at its next chunk, and discard the answer before
 * it is read.
 */
import type { WireResponse } from './wire.js';

/** Half of the shortest timeout of the library for clients that send nothing, or too little. */
const LOOK_INTERVAL_MS = 4000;
/**
 * As long as slow readers of answers have: a client that was held up continues, and one that is gone does not say so.
 */
const QUIET_LOOKS_MAX = 30_000 / LOOK_INTERVAL_MS;
/** Two minutes, however slowly bytes arrive. */
const LOOKS_MAX = 120_000 / LOOK_INTERVAL_MS;
/** The answer says that the connection will be closed: a client that sends more than this never looks at it. */
const LINGER_BYTES_MAX = 268_435_456;

/** Pause after which a rest that need not come counts as over. */
const PAUSE_MS_MAX = 2000;

/** Restarts the timeout of the library. Also resumes a connection whose body had been paused. */
function restartTimeout(res: WireResponse): void {
  res.pause();
  res.resume();
}

export interface Rest {
  /** False: the client has stopped sending, and may continue any time or never. */
  readonly isAwaited: boolean;
}

/**
 * Calls `end` when the rest has arrived, is too long or takes too long. Returns a function to be called when the
 * connection is gone.
 */
export function dropRest(res: WireResponse, { isAwaited }: Rest, end: () => void): () => void {
  let [bytes, seenBytes, looks, quietLooks] = [0, 0, 0, 0];
  const timer = setInterval(() => {
    looks += 1;
    quietLooks = bytes === seenBytes ? quietLooks + 1 : 0;
    seenBytes = bytes;
    if (looks > LOOKS_MAX || quietLooks > QUIET_LOOKS_MAX) return end();
    restartTimeout(res);
  }, LOOK_INTERVAL_MS).unref();
  // Until the answer, the body was looked at as often: with up to two intervals in between, the library would close.
  restartTimeout(res);
  const pause = isAwaited ? undefined : setTimeout(end, PAUSE_MS_MAX).unref();
  res.onData((chunk, isLast) => {
    bytes += chunk.byteLength;
    pause?.refresh();
    // Deferred, since what is written in this turn is sent at its end.
    if (isLast || bytes > LINGER_BYTES_MAX) setImmediate(end);
  });
  return () => {
    clearInterval(timer);
    clearTimeout(pause);
  };
}
