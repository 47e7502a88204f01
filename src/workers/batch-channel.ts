/**
 * Messages to one thread, which answers them in order (`batch-loop.ts`): a message port, and two counters in shared
 * memory. The thread sleeps on the first while it has nothing to do. The second counts its answers, so that the main
 * thread, when notified of one, takes those of all threads at once.
 *
 * Invariant: each message settles once, with the thread's answer or with the cause of its death. Main thread only.
 */
import { MessageChannel, receiveMessageOnPort, type MessagePort } from 'node:worker_threads';

/** Indexes of the counters: messages sent, answers given. */
export const ASKED = 0;
export const ANSWERED = 1;

/** The thread's end; `port` has to be transferred. */
export interface BatchChannelEnd {
  readonly port: MessagePort;
  readonly counters: Int32Array<SharedArrayBuffer>;
}

/** Sent instead of a message: the thread answers what came before and ends. */
export const END_OF_BATCHES = null;

interface Out {
  readonly resolve: (answer: ArrayBuffer) => void;
  readonly reject: (error: unknown) => void;
}

export class BatchChannel<Message> {
  /** The end for the thread. */
  readonly end: BatchChannelEnd;
  private readonly port: MessagePort;
  private readonly out: Out[] = [];
  private taken = 0;

  /**
   * `onAnswer` is called when an answer has arrived, after it was settled; those of other threads may have arrived as
   * well.
   */
  constructor(onAnswer: () => void) {
    const { port1, port2 } = new MessageChannel();
    const counters = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT));
    this.end = { port: port2, counters };
    this.port = port1;
    port1.on('message', (answer: unknown) => {
      this.settle(answer);
      onAnswer();
    });
  }

  /** Number of messages without an answer. */
  get outCount(): number {
    return this.out.length;
  }

  get hasAnswered(): boolean {
    return this.taken > 0;
  }

  /** Sends a message. Rejects with the error that the thread answered, or that passed to `lost`. */
  ask(message: Message): Promise<ArrayBuffer> {
    return new Promise((resolve, reject) => {
      this.post(message);
      this.out.push({ resolve, reject });
    });
  }

  /** Settles the answers that have arrived. */
  receive(): void {
    while (Atomics.load(this.end.counters, ANSWERED) !== this.taken) {
      const entry: { readonly message: unknown } | undefined = receiveMessageOnPort(this.port);
      if (entry === undefined) return;
      this.settle(entry.message);
    }
  }

  /** Lets the thread end when it has answered everything. */
  finish(): void {
    this.post(END_OF_BATCHES);
  }

  /** Rejects what is unanswered, since the thread has ended. */
  lost(error: unknown): void {
    this.receive();
    this.port.close();
    for (const { reject } of this.out.splice(0)) reject(error);
  }

  private post(message: Message | typeof END_OF_BATCHES): void {
    const { counters } = this.end;
    this.port.postMessage(message);
    Atomics.add(counters, ASKED, 1);
    Atomics.notify(counters, ASKED);
  }

  private settle(answer: unknown): void {
    this.taken = (this.taken + 1) | 0;
    const out = this.out.shift();
    if (answer instanceof ArrayBuffer) out?.resolve(answer);
    else out?.reject(answer);
  }
}
