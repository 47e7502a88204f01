/** The thread's end of a `BatchChannel`. */
import { setImmediate } from 'node:timers/promises';
import { receiveMessageOnPort } from 'node:worker_threads';
import { ANSWERED, ASKED, END_OF_BATCHES, type BatchChannelEnd } from './batch-channel.js';

/**
 * Messages handled per turn of the event loop. The thread sleeps within a turn, since only messages wake it. lmdb-js
 * leaves a timer behind with each snapshot, so the loop has to turn now and then.
 */
const MESSAGES_PER_TURN_MAX = 64;

/** Answers messages until `END_OF_BATCHES`. What `answer` throws is the answer to that message only. */
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

/** Returns the next message, sleeping until there is one. */
function nextMessage({ port, counters }: BatchChannelEnd): unknown {
  for (;;) {
    // Read before the port: a message that arrives in between ends the wait.
    const asked = Atomics.load(counters, ASKED);
    const entry: { readonly message: unknown } | undefined = receiveMessageOnPort(port);
    if (entry !== undefined) return entry.message;
    Atomics.wait(counters, ASKED, asked);
  }
}
