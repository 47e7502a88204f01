/**
 * A fixed number of threads that answer batches. Piscina starts, limits and replaces them; each runs one task all its
 * life, which answers messages of a channel (docs/decisions/0070). Main thread only.
 */
import type { Piscina } from 'piscina';
import { BatchChannel, type BatchChannelEnd } from './batch-channel.js';

interface Thread<Message> {
  readonly channel: BatchChannel<Message>;
  /** Resolves when its task has ended, for whatever reason. */
  readonly ended: Promise<void>;
  /** Ends the task if it waits for a thread that cannot start. */
  readonly giveUp: AbortController;
}

export interface BatchThreadsOptions<Start> {
  /** Has as many threads as `threads`, with one task at a time in each. */
  readonly piscina: Piscina;
  readonly threads: number;
  /** Returns the task of a thread, which answers until it is told to end. */
  readonly start: (end: BatchChannelEnd) => Start;
  readonly onDeath: (error: unknown) => void;
}

export class BatchThreads<Message, Start = unknown> {
  private readonly threads: (Thread<Message> | undefined)[];
  private closing = false;

  constructor(private readonly options: BatchThreadsOptions<Start>) {
    this.threads = Array.from({ length: options.threads }, (_, index) => this.started(index));
    // A thread that fails before it has a task: Piscina would let the task wait for ever.
    options.piscina.on('error', (error: unknown) => {
      for (const thread of this.threads) if (thread?.channel.hasAnswered === false) thread.giveUp.abort(error);
    });
  }

  /** Sends the message to the least busy thread. Rejects with the error of the thread or the cause of its death. */
  run(message: Message): Promise<ArrayBuffer> {
    return this.leastBusy().channel.ask(message);
  }

  /** Resolves when every thread has answered the message. */
  async everywhere(message: Message): Promise<void> {
    await Promise.all(this.threads.map((_, index) => this.thread(index).channel.ask(message)));
  }

  /** Accepts no more messages; resolves when all were answered and the threads are free. */
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
    // A thread that never answered would fail again: it is started when there is something to do.
    this.threads[index] = channel.hasAnswered && !this.closing ? this.started(index) : undefined;
    this.options.onDeath(error);
    channel.lost(error);
  }

  private receive(): void {
    for (const thread of this.threads) thread?.channel.receive();
  }
}
