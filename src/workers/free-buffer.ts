/** Memory of large answers, given back when it is not needed any more instead of when the heap is next collected. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** Leads nowhere: what moves there is freed at once. */
const nowhere = closedPort();

/** The buffer is empty after, and so are all views of it. */
export function freeBuffer(buffer: ArrayBuffer): void {
  nowhere.postMessage(null, [buffer]);
}

function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
