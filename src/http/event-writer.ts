/** Writes server-sent events to a response that stays open. */
import type { EventStream } from '../operations/index.js';
import type { WireResponse } from './wire.js';

/**
 * uWebSockets.js buffers 16 KiB, and drops a piece that does not fit behind the buffered bytes if the connection
 * accepts nothing at that moment (docs/decisions/0284). Half as many bytes fit behind any head, and each piece is
 * buffered separately.
 */
const PIECE_BYTES_MAX = 8_192;

/** Starts sending. Returns a function to be called when the client is gone, after which the response is not touched. */
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
          // False: the library buffers what the connection did not accept.
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

/** Splits the text into pieces that the library can buffer. */
function* piecesOf(text: string): Generator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.byteLength; at += PIECE_BYTES_MAX) yield bytes.subarray(at, at + PIECE_BYTES_MAX);
}
