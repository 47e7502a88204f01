/**
 * The worker's end of a `Host`, called by its entry file, the same in a thread and in a process. Asynchronous questions
 * run concurrently; notices are handled in order.
 */
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import {
  UP,
  type Answer,
  type Ask,
  type EventName,
  type FromWorker,
  type NoticeName,
  type Protocol,
  type QuestionName,
  type ToWorker,
} from './protocol.js';
import { replyOf, stackOf } from './reply.js';

/** What a host passes to a starting worker. */
export interface HostedData {
  readonly data: unknown;
  readonly niceness: number;
}

export type Emit<P extends Protocol> = <Name extends EventName<P>>(name: Name, content: P['events'][Name]) => void;

/** What the handler of a question may use of its call. */
export interface ServedCall {
  /** Aborted if the caller no longer wants the answer. */
  readonly signal: AbortSignal;
}

export interface Served<P extends Protocol> {
  readonly answers: {
    readonly [Name in QuestionName<P>]: (
      ask: Ask<P, Name>,
      call: ServedCall,
    ) => Answer<P, Name> | Promise<Answer<P, Name>>;
  };
  readonly notices: { readonly [Name in NoticeName<P>]: (content: P['notices'][Name]) => void };
  /** Called once, when the host closes; resolves when the work in progress is finished. */
  readonly close?: () => Promise<void> | void;
}

/** Opens a second way to the host, for some of the messages (`direct-line.ts`). */
export type LineOpener = (onMessage: (message: ToWorker) => void) => { say(message: FromWorker): boolean };

/**
 * Serves a host. `create` is called once, with the host's data and a function that emits events. `openLine`: only in a
 * process that was created with a direct line.
 */
export function serveHost<P extends Protocol>(
  create: (data: unknown, emit: Emit<P>) => Served<P>,
  openLine?: LineOpener,
): void {
  if (parentPort !== null) {
    const port = parentPort;
    port.postMessage(UP);
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
  let line: ReturnType<LineOpener> | undefined;
  const send = (message: FromWorker) => {
    if (line?.say(message) !== true) process.send?.(message, undefined, undefined, () => undefined);
  };
  const end = new HostedEnd(create, send, () => process.disconnect());
  // The parent process is gone: nobody wants the answers.
  process.once('disconnect', () => process.exit(0));
  process.on('message', (message: ToWorker | ({ readonly kind: 'hosted' } & HostedData)) => {
    if (message.kind !== 'hosted') {
      end.hear(message);
      return;
    }
    end.begin(message);
    // Messages that arrived over the line before this wait there.
    line = openLine?.((heard) => {
      end.hear(heard);
    });
  });
}

class HostedEnd<P extends Protocol> {
  readonly #calls = new Map<number, Call>();
  #served: Served<P> | undefined;

  constructor(
    private readonly create: (data: unknown, emit: Emit<P>) => Served<P>,
    private readonly send: (message: FromWorker) => void,
    private readonly end: () => void,
  ) {}

  begin({ data, niceness }: HostedData): void {
    // On Linux, priority is per thread; elsewhere a thread would lower that of the whole process.
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
        this.#calls.get(message.number)?.cancel();
        break;
      case 'notice':
        served.notices[message.name as NoticeName<P>](message.content as never);
        break;
      case 'close':
        void this.#close(served);
    }
  }

  async #close(served: Served<P>): Promise<void> {
    try {
      await served.close?.();
    } catch (error) {
      this.send({ kind: 'unclosed', stack: stackOf(error) });
      // Never within the handling of a message: Node.js fails where its channel is gone behind that.
      await Promise.resolve();
    }
    this.end();
  }

  async #answer(served: Served<P>, { number, name, ask }: ToWorker & { readonly kind: 'question' }): Promise<void> {
    const call = new Call();
    this.#calls.set(number, call);
    const answer = served.answers[name as QuestionName<P>];
    const reply = await replyOf(() => answer(ask as never, call));
    this.#calls.delete(number);
    if (!call.isCancelled) this.send({ kind: 'answer', number, reply });
  }
}

/**
 * A question in progress. Creates its signal on demand: most questions never use it, and creating it takes longer than
 * all else that is done for a question.
 */
class Call implements ServedCall {
  #controller: AbortController | undefined;
  isCancelled = false;

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.isCancelled) this.#controller.abort();
    return this.#controller.signal;
  }

  cancel(): void {
    this.isCancelled = true;
    this.#controller?.abort();
  }
}
