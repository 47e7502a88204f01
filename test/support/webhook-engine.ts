/** A webhook engine on separate folders, fed through a real outbox. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  asOutboxEvent,
  FIRST_OUTBOX_ROW,
  openEnvironment,
  Outbox,
  OUTBOX_DATABASE,
  Secret,
  type EventContent,
  type LmdbEnvironment,
  type OutboxSource,
} from '../../src/platform/index.js';
import { systemTimers, type Timers } from '../../src/platform/work/index.js';
import { eventually } from './eventually.js';
import { loadConfig } from '../../src/platform/config.js';
import { HttpSender } from '../../src/webhooks/http-sender.js';
import { WebhookEngine, type Sender, type Subscription, type WebhookSettings } from '../../src/webhooks/index.js';

/** Only reached if there is no answer at all; tests of time-outs set their own. */
const ANSWER_SECONDS = 120;

/** Tells the fixture how many attempts are in progress. */
class CountingSender implements Sender {
  underWay = 0;
  constructor(private readonly sender: Sender) {}

  async send(...args: Parameters<Sender['send']>): ReturnType<Sender['send']> {
    this.underWay += 1;
    try {
      return await this.sender.send(...args);
    } finally {
      this.underWay -= 1;
    }
  }

  close(): Promise<void> {
    return this.sender.close();
  }
}

export interface EngineFixtureOptions {
  readonly timers?: Timers;
  readonly settings?: Partial<WebhookSettings>;
}

export class EngineFixture {
  readonly folder = mkdtempSync(join(tmpdir(), 'gannet-webhooks-'));
  readonly settings: WebhookSettings;
  readonly source: OutboxSource = { id: 'system', kind: 'system', path: join(this.folder, 'system') };
  readonly failures: unknown[] = [];
  engine: WebhookEngine;
  #sender: CountingSender;
  readonly #options: EngineFixtureOptions;
  readonly #environment: LmdbEnvironment = openEnvironment(this.source.path, { kind: 'system' });
  readonly #outbox: Outbox = new Outbox(this.#environment.database(OUTBOX_DATABASE));
  #nextRow = FIRST_OUTBOX_ROW;
  #movedTo = 0;

  constructor(options: EngineFixtureOptions = {}) {
    this.#options = options;
    const { webhooks, outbound } = loadConfig({ argv: [], env: {} });
    const patient = { ...webhooks, answer_seconds: ANSWER_SECONDS };
    this.settings = { ...patient, outbound: { ...outbound, loopback_allowed: true }, ...options.settings };
    [this.engine, this.#sender] = this.#open();
  }

  get timers(): Timers {
    return this.#options.timers ?? systemTimers;
  }

  #open(): [WebhookEngine, CountingSender] {
    const sender = new CountingSender(new HttpSender({ settings: this.settings }));
    const engine = new WebhookEngine({
      queuePath: join(this.folder, 'queue'),
      settings: this.settings,
      timers: this.timers,
      deliver: true,
      sender,
      listener: {
        moved: (_sourceId, lastRow) => {
          this.#movedTo = lastRow;
        },
        settled: () => undefined,
        failed: (_message, error) => this.failures.push(error),
      },
    });
    return [engine, sender];
  }

  /** Closes the engine and opens another on the same folder. Subscriptions have to be set again. */
  async reopen(): Promise<void> {
    await this.engine.close();
    [this.engine, this.#sender] = this.#open();
  }

  /** Writes events as a change does, and wakes the engine. */
  async emit(events: readonly EventContent[], account = 'default'): Promise<void> {
    const rows = events.map((event) => asOutboxEvent(account, event, this.timers.nowMs()));
    await this.#environment.transaction(() => {
      this.#nextRow = this.#outbox.append(this.#nextRow, rows);
    });
    this.engine.wake(this.source);
  }

  /** Writes events, and resolves when they are in the queue. */
  async emitAndMove(events: readonly EventContent[]): Promise<void> {
    await this.emit(events);
    await eventually(
      () => Promise.resolve(this.#movedTo),
      (row) => row === this.#nextRow - 1,
    );
  }

  /** Resolves when no attempt is in progress and its consequences have happened. */
  readonly settled = async (): Promise<void> => {
    for (let quietTurns = 0; quietTurns < 2; quietTurns = this.#sender.underWay > 0 ? 0 : quietTurns + 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (this.#sender.underWay === 0) await this.engine.flushed();
    }
  };

  subscription(id: string, url: string, events: Subscription['events']): Subscription {
    const created_utc = new Date(this.timers.nowMs()).toISOString();
    const secret = new Secret(Buffer.alloc(32, id).toString('base64'));
    const none = { previous_secret: null, previous_secret_until: null };
    return { id, account: 'default', url, events, secret, ...none, created_utc, modified_utc: created_utc };
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.#environment.close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
