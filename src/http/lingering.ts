/**
 * What a client still sends of a request that is answered already is read and dropped before its connection is closed. Closed at once, the
 * system would tell the client of a reset when its next piece comes, and throw away the answer that it has not read yet.
 */
import type { HttpResponse } from 'uWebSockets.js';

/** As long as answers have that are taken slowly. Who sends nothing for 8 to 12 s is closed by the library before. */
const LINGER_MS_MAX = 30_000;
/** The answer says that the connection is closed: who sends on after this much never looks. */
const LINGER_BYTES_MAX = 268_435_456;

/** Calls `end` when the rest is there, or is too much or too late. Returns what is to be called when the connection is gone. */
export function dropRest(res: HttpResponse, end: () => void): () => void {
  let bytes = 0;
  const timer = setTimeout(end, LINGER_MS_MAX).unref();
  res.onData((chunk, isLast) => {
    bytes += chunk.byteLength;
    // What is written in this turn is sent at its end.
    if (isLast || bytes > LINGER_BYTES_MAX) setImmediate(end);
  });
  return () => clearTimeout(timer);
}
