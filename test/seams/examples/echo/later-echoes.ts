/**
 * An example of work in the background: echoes that come back after a while, also if the process is killed meanwhile.
 * Each is written with the change that asks for it, and its event in the transaction that takes it off.
 */
import { CollectionStore, type Collection } from '../../../../src/catalog/index.js';
import type { Host } from '../../../../src/platform/hosts/index.js';
import type { LmdbEnvironment } from '../../../../src/platform/index.js';
import {
  RetrySchedule,
  systemTimers,
  WorkQueue,
  WorkRunner,
  type Settlement,
  type WorkKind,
} from '../../../../src/platform/work/index.js';
import type { EchoProtocol } from './echo-protocol.js';

interface EchoTypes {
  readonly item: { readonly account: string; readonly text: string };
  /** What is said, or why it is not. */
  readonly result: string;
  readonly note: { readonly account: string; readonly text: string; readonly said: string };
  readonly failure: string;
}

const ECHOES: WorkKind<EchoTypes> = {
  databases: {
    items: 'echoes-later',
    schedule: 'echoes-later-schedule',
    setAside: 'echoes-later-set-aside',
    meta: 'echoes-later-meta',
  },
  keeping: { kind: 'every' },
  encode: ({ account, text }) => [account, text],
  decode(stored) {
    const [account, text] = stored as [account: string, text: string];
    return { account, text };
  },
  subjectOf: ({ text }) => text,
};

/** A lane for each account, so that they take turns. */
const PER_ACCOUNT_MAX = 1;
const TOTAL_MAX = 4;
const SCHEDULE = { soonMs: [100, 500], laterMs: [60_000, 600_000], jitterPercent: 10 };

export class LaterEchoes {
  readonly #store: CollectionStore;
  /** The accounts that have asked, whose lanes a start begins. */
  readonly #asking: Collection<{ readonly account: string }>;
  readonly #queue: WorkQueue<EchoTypes>;
  readonly #runner: WorkRunner<EchoTypes>;
  #isStarted = false;

  constructor(
    private readonly host: Host<EchoProtocol>,
    system: LmdbEnvironment,
    onWriteFailure: (error: unknown) => void,
  ) {
    this.#store = CollectionStore.of(system);
    this.#asking = this.#store.collection('echoes-later-asking');
    this.#queue = new WorkQueue(system, ECHOES);
    this.#runner = new WorkRunner({
      queue: this.#queue,
      timers: systemTimers,
      schedule: new RetrySchedule(SCHEDULE),
      perReceiverMax: PER_ACCOUNT_MAX,
      totalMax: TOTAL_MAX,
      writing: 'each',
      write: (settlements) => this.#write(settlements),
      onWriteFailure,
    });
  }

  /** Goes on with what earlier processes have left. */
  start(): void {
    this.#isStarted = true;
    for (const { account } of this.#asking.values()) this.#wake(account);
  }

  /** Resolves when the echo is certain to come. */
  async say(account: string, text: string, waitMs: number): Promise<void> {
    await this.#store.change((change) => {
      change.put(this.#asking, account, { account });
      change.within(() => {
        this.#queue.put([{ lane: account, item: { account, text } }], systemTimers.nowMs() + waitMs);
      });
    });
    // A process for one command leaves the work to the service.
    if (this.#isStarted) this.#wake(account);
  }

  /** Removes what is to be said for an account that is gone. */
  async forget(account: string): Promise<void> {
    await this.#runner.remove(account);
    await this.#queue.forget(account);
    await this.#store.change((change) => {
      change.remove(this.#asking, account);
    });
  }

  close(): Promise<void> {
    return this.#runner.close(0);
  }

  #wake(account: string): void {
    if (this.#runner.has(account)) {
      this.#runner.wake(account);
      return;
    }
    this.#runner.add(account, {
      receiver: account,
      batchMax: 1,
      perform: (work) => Promise.all(work.map(({ item }) => this.#perform(item.text))),
      note: ({ work: { item }, result }) => ({ ...item, said: result }),
      failure: ({ result }) => result,
    });
  }

  async #perform(text: string) {
    try {
      return { verdict: 'done', result: await this.host.call('reverse', text) } as const;
    } catch (error) {
      return { verdict: 'failed', result: String(error) } as const;
    }
  }

  /** What was taken off meanwhile, such as by the deletion of its account, is not told. */
  #write(settlements: readonly Settlement<EchoTypes>[]): Promise<void> {
    return this.#store.change((change) => {
      const settled = settlements.filter((settlement) => this.#queue.holds(settlement));
      change.within(() => {
        this.#queue.settle(settled);
      });
      for (const { note, next } of settled) {
        if (next.kind !== 'done') continue;
        const { account, ...data } = note;
        change.emit(account, { type: 'echo.said', id: account, list: '', data });
      }
    });
  }
}
