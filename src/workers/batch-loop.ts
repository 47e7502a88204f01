/** The thread's end of a `BatchChannel`. */
import { setImmediate } from 'node:timers/promises';
import { receiveMessageOnPort } from 'node:worker_threads';
import { ANSWERED, ASKED, END_OF_BATCHES, type BatchChannelEnd } from './batch-channel.js';

/**
 * The thread sleeps in the middle of its event loop, as nothing else would wake it but messages. lmdb-js leaves a timer behind with
 * each snapshot, so the loop is turned now and then.
 */
const MESSAGES_PER_TURN_MAX = 64;

/** Answers messages until there are to be no more. What `answer` throws is the answer to that message alone. */
export async function answerBatches<Message>(
  { port, counters }: BatchChannelEnd,
  answer: (message: Message) => ArrayBuffer | Promise<ArrayBuffer>,
): Promise<void> {
  for (let handled = 0; ; handled += 1) {
    if (handled === MESSAGES_PER_TURN_MAX) {
      handled = 0;
      await setImmediate();
    }
    const message = nextMessage({ port, counters }) as Message | typeof END_OF_BATCHES;
    if (message === END_OF_BATCHES) break;
    try {
      const reply = answer(message);
      const bytes = reply instanceof Promise ? await reply : reply;
      port.postMessage(bytes, [bytes]);
    } catch (error) {
      port.postMessage(error);
    }
    Atomics.add(counters, ANSWERED, 1);
  }
  port.close();
}

/** Sleeps until there is one. */
function nextMessage({ port, counters }: BatchChannelEnd): unknown {
  for (;;) {
    // Read before the port is: a message that comes in between ends the wait.
    const asked = Atomics.load(counters, ASKED);
    const entry: { readonly message: unknown } | undefined = receiveMessageOnPort(port);
    if (entry !== undefined) return entry.message;
    Atomics.wait(counters, ASKED, asked);
  }
}
