/** Server-sent events on a response of uWebSockets.js that stays open. */
import type { HttpResponse } from 'uWebSockets.js';
import type { EventStream } from '../operations/index.js';

/** Begins to send. Returns what is to be called when the client has gone; the response is not touched after that. */
export function writeEvents(res: HttpResponse, events: EventStream): () => void {
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
      res.cork(() => {
        // False: the library keeps what the connection did not take.
        if (!res.write(text)) isBehind = true;
      });
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
