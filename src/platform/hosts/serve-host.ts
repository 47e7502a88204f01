/**
 * The other end of a `Host`: what the entry file of a worker calls, the same in a thread and in a process. Questions are worked
 * on side by side as far as their functions wait; notices are taken in order.
 */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Answer, Ask, EventName, FromWorker, NoticeName, Protocol, QuestionName, ToWorker } from './protocol.js';
import { replyOf } from './reply.js';

/** What a host gives to a worker that starts. */
export interface HostedData {
  readonly data: unknown;
  readonly niceness: number;
}

export type Emit<P extends Protocol> = <Name extends EventName<P>>(name: Name, content: P['events'][Name]) => void;

export interface Served<P extends Protocol> {
  readonly answers: {
    readonly [Name in QuestionName<P>]: (
      ask: Ask<P, Name>,
      signal: AbortSignal,
    ) => Answer<P, Name> | Promise<Answer<P, Name>>;
  };
  readonly notices: { readonly [Name in NoticeName<P>]: (content: P['notices'][Name]) => void };
  /** Called once, when the host closes: what is in hand is finished when it resolves. */
  readonly close?: () => Promise<void> | void;
}

/** `create` is called once, with what the host gave and a function that says things unasked. */
export function serveHost<P extends Protocol>(create: (data: unknown, emit: Emit<P>) => Served<P>): void {
  if (parentPort !== null) {
    const port = parentPort;
    const end = new HostedEnd(
      create,
      (message) => port.postMessage(message),
      () => port.close(),
    );
    end.begin(workerData as HostedData);
    port.on('message', (message: ToWorker) => {
      end.hear(message);
    });
    return;
  }
  const send = (message: FromWorker) => process.send?.(message, undefined, undefined, () => undefined);
  const end = new HostedEnd(create, send, () => process.disconnect());
  // Whoever started it is gone: nobody wants its answers.
  process.once('disconnect', () => process.exit(0));
  process.on('message', (message: ToWorker | ({ readonly kind: 'hosted' } & HostedData)) => {
    if (message.kind === 'hosted') end.begin(message);
    else end.hear(message);
  });
}

class HostedEnd<P extends Protocol> {
  readonly #cancelled = new Map<number, AbortController>();
  #served: Served<P> | undefined;

  constructor(
    private readonly create: (data: unknown, emit: Emit<P>) => Served<P>,
    private readonly send: (message: FromWorker) => void,
    private readonly end: () => void,
  ) {}

  begin({ data, niceness }: HostedData): void {
    // On Linux a priority is that of the calling thread; elsewhere a thread would lower that of the whole process.
    if (niceness > 0 && (process.platform === 'linux' || parentPort === null)) setPriority(niceness);
    this.#served = this.create(data, (name, content) => {
      this.send({ kind: 'event', name, content });
    });
  }

  hear(message: ToWorker): void {
    const served = this.#served;
    if (served === undefined) throw new Error('a worker was asked before it was begun');
    switch (message.kind) {
      case 'question':
        void this.#answer(served, message);
        break;
      case 'cancel':
        this.#cancelled.get(message.number)?.abort();
        break;
      case 'notice':
        served.notices[message.name as NoticeName<P>](message.content as never);
        break;
      case 'close':
        void Promise.resolve(served.close?.()).finally(this.end);
    }
  }

  async #answer(served: Served<P>, { number, name, ask }: ToWorker & { readonly kind: 'question' }): Promise<void> {
    const cancellation = new AbortController();
    this.#cancelled.set(number, cancellation);
    const answer = served.answers[name as QuestionName<P>];
    const reply = await replyOf(() => answer(ask as never, cancellation.signal));
    this.#cancelled.delete(number);
    if (!cancellation.signal.aborted) this.send({ kind: 'answer', number, reply });
  }
}
