/**
 * A fixed number of threads that answer batches. The threads are Piscina's, which starts, limits and replaces them; each runs one task
 * for all its life, which answers what comes through a channel of ours (docs/decisions/0070). Main thread only.
 */
import type { Piscina } from 'piscina';
import { BatchChannel, type BatchChannelEnd } from './batch-channel.js';

interface Thread<Message> {
  readonly channel: BatchChannel<Message>;
  /** Resolves when its task has ended, however it did. */
  readonly ended: Promise<void>;
  /** Ends it where it waits for a thread that cannot start. */
  readonly giveUp: AbortController;
}

export interface BatchThreadsOptions<Start> {
  /** Has as many threads as are wanted, and one task at a time in each. */
  readonly piscina: Piscina;
  readonly threads: number;
  /** The task of a thread: answers until it is told to end. */
  readonly start: (end: BatchChannelEnd) => Start;
  readonly onDeath: (error: unknown) => void;
}

export class BatchThreads<Message, Start = unknown> {
  private readonly threads: (Thread<Message> | undefined)[];
  private closing = false;

  constructor(private readonly options: BatchThreadsOptions<Start>) {
    this.threads = Array.from({ length: options.threads }, (_, index) => this.started(index));
    // Threads that fail before they have a task; Piscina would let the tasks wait for ever.
    options.piscina.on('error', (error: unknown) => {
      for (const thread of this.threads) if (thread?.channel.hasAnswered === false) thread.giveUp.abort(error);
    });
  }

  /** By the thread that has the least to do. Rejects with what the thread failed with or died of. */
  run(message: Message): Promise<ArrayBuffer> {
    return this.leastBusy().channel.ask(message);
  }

  /** Resolves when every thread has answered the message. */
  async everywhere(message: Message): Promise<void> {
    await Promise.all(this.threads.map((_, index) => this.thread(index).channel.ask(message)));
  }

  /** Takes no more messages; resolves when all were answered and the threads are free. */
  async close(): Promise<void> {
    this.closing = true;
    const running = this.threads.filter((thread) => thread !== undefined);
    for (const { channel } of running) channel.finish();
    await Promise.all(running.map(({ ended }) => ended));
  }

  private leastBusy(): Thread<Message> {
    let best = this.thread(0);
    for (let index = 1; index < this.threads.length && best.channel.outCount > 0; index += 1) {
      const thread = this.thread(index);
      if (thread.channel.outCount < best.channel.outCount) best = thread;
    }
    return best;
  }

  private thread(index: number): Thread<Message> {
    return this.threads[index] ?? (this.threads[index] = this.started(index));
  }

  private started(index: number): Thread<Message> {
    const channel = new BatchChannel<Message>(() => {
      this.receive();
    });
    const { piscina, start } = this.options;
    const giveUp = new AbortController();
    const { signal } = giveUp;
    const ended = piscina.run(start(channel.end), { transferList: [channel.end.port], signal }).then(
      () => {
        channel.lost(new Error('the thread has ended'));
      },
      (error: unknown) => {
        this.died(index, channel, signal.aborted ? signal.reason : error);
      },
    );
    return { channel, ended, giveUp };
  }

  private died(index: number, channel: BatchChannel<Message>, error: unknown): void {
    // One that never answered anything would not the next time: it is started when there is something to do.
    this.threads[index] = channel.hasAnswered && !this.closing ? this.started(index) : undefined;
    this.options.onDeath(error);
    channel.lost(error);
  }

  private receive(): void {
    for (const thread of this.threads) thread?.channel.receive();
  }
}
