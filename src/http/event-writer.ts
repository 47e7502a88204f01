/** Server-sent events on a response that stays open. */
import type { EventStream } from '../operations/index.js';
import type { WireResponse } from './wire.js';

/**
 * uWebSockets.js gathers 16 KiB, and forgets a piece that does not fit behind what it has gathered where the connection takes nothing just
 * then (docs/decisions/0284): one of half as many bytes fits behind any head, and each is gathered by itself.
 */
const PIECE_BYTES_MAX = 8_192;

/** Begins to send. Returns what is to be called when the client has gone; the response is not touched after that. */
export function writeEvents(res: WireResponse, events: EventStream): () => void {
  let isBehind = false;
  let isOver = false;
  let stop = (): void => undefined;
  const finish = (): void => {
    if (isOver) return;
    isOver = true;
    stop();
  };
  res.onWritable(() => {
    isBehind = false;
    return true;
  });
  stop = events.open({
    get isBehind() {
      return isBehind;
    },
    send(text) {
      if (isOver) return;
      for (const piece of piecesOf(text)) {
        res.cork(() => {
          // False: the library keeps what the connection did not take.
          if (!res.write(piece)) isBehind = true;
        });
      }
    },
    end() {
      if (isOver) return;
      finish();
      res.cork(() => {
        res.end();
      });
    },
  });
  if (isOver) stop();
  return finish;
}

/** No longer than the library can gather. */
function* piecesOf(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES_MAX) yield bytes.subarray(at, at + PIECE_BYTES_MAX);
}
