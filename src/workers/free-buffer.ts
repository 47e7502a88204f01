/** Frees the memory of large answers at once, instead of at the next garbage collection. */
import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** Closed at the other end: what is transferred there is freed at once. */
const nowhere = closedPort();

/** Frees the buffer; it and all views of it are empty afterwards. */
export function freeBuffer(buffer: ArrayBuffer): void {
  nowhere.postMessage(null, [buffer]);
}

function closedPort(): MessagePort {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  return port1;
}
