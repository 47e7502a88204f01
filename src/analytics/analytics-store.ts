/**
 * `data/analytics`: raw events, roll-ups and pending purges, in one LMDB environment. `docs/formats.md` describes it.
 *
 * Invariants: everything up to a target's `progress` is in its roll-ups and nothing after it, since both change in one
 * transaction; numbers of targets are never reused; a batch is appended once, however often it is sent. Changes are on
 * disk when a method resolves. One thread owns the store and runs the methods that change it one after the other; only
 * `purge` may overlap with others, once its target is marked.
 */
import type { Database } from 'lmdb';
import { openEnvironment, type LmdbEnvironment } from '../platform/index.js';
import { splitBatch, type EventBatch } from './event-batch.js';
import {
  SEQUENCE_MAX,
  afterBlock,
  blockKey,
  BLOCK_TIME_MS_MAX,
  blockTimeMs,
  periodKey,
  periodOf,
  targetKey,
} from './store-keys.js';
import { readRollUp, type RollUp, type StoredRollUp } from './roll-up.js';
import { EVENTS_FORMAT } from './events-format.js';
import { eventsFolder } from './folder.js';

const BLOCK_FORMAT = 1;
const BLOCK_HEAD_BYTES = 1;
/** Rows that one transaction removes, so that deleting years of events does not delay appends. */
const ROWS_PER_REMOVAL = 500;

type Bytes = Database<Buffer, Buffer>;

export interface TargetRow {
  readonly number: number;
}

/** A block of raw events. */
export interface RawBlock {
  readonly key: Buffer;
  readonly events: Uint8Array;
}

export interface PurgeRow {
  /** Time of the second purge. */
  readonly dueMs: number;
}

interface LastBatch {
  readonly session: string;
  readonly number: number;
}

export class AnalyticsStore {
  private readonly environment: LmdbEnvironment;
  private readonly targets: Database<TargetRow, string>;
  private readonly purges: Database<PurgeRow, string>;
  private readonly state: Database<LastBatch | number, string>;
  private readonly raw: Bytes;
  private readonly hours: Bytes;
  private readonly days: Bytes;
  private readonly progress: Bytes;
  /** Time of the last block. Block keys ascend, even if the clock goes back. */
  private lastTimeMs = 0;
  /** By how much block times are ahead of the clock, which was set back then. */
  private aheadMs = 0;
  /** Initially as if the last millisecond were full, so that blocks appended in it are not overwritten. */
  private lastSequence = SEQUENCE_MAX;

  constructor(folder: string) {
    this.environment = openEnvironment(eventsFolder(folder), { kind: EVENTS_FORMAT });
    try {
      const bytes = { encoding: 'binary', keyEncoding: 'binary' } as const;
      this.targets = this.environment.database('targets');
      this.purges = this.environment.database('purges');
      this.state = this.environment.database('state');
      this.raw = this.environment.database('raw', bytes);
      this.hours = this.environment.database('hours', bytes);
      this.days = this.environment.database('days', bytes);
      this.progress = this.environment.database('progress', bytes);
      for (const { number } of this.targetRows().values()) {
        const last = this.lastBlock(number);
        if (last !== undefined) this.lastTimeMs = Math.max(this.lastTimeMs, blockTimeMs(last));
      }
    } catch (error) {
      // So that the next opening maps the file anew.
      void this.environment.close();
      throw error;
    }
  }

  /** Returns the targets by identity. */
  targetRows(): Map<string, TargetRow> {
    return new Map(Array.from(this.targets.getRange(), ({ key, value }) => [key, value]));
  }

  target(identity: string): TargetRow | undefined {
    return this.targets.get(identity);
  }

  /**
   * Appends the events of a batch, except those of targets to be purged. Resolves with the bytes of the events by
   * identity.
   */
  async append(batch: EventBatch, nowMs: number): Promise<ReadonlyMap<string, number>> {
    const blocks = splitBatch(batch);
    const appended = new Map<string, number>();
    const timeMs = this.nextTimeMs(nowMs);
    await this.environment.transaction(() => {
      const last = this.state.get('last-batch') as LastBatch | undefined;
      if (last?.session === batch.session && last.number >= batch.number) return;
      for (const [index, identity] of batch.targets.entries()) {
        const events = blocks[index];
        if (events === undefined || events.length === 0 || this.purges.get(identity) !== undefined) continue;
        const block = Buffer.allocUnsafe(BLOCK_HEAD_BYTES + events.length);
        block[0] = BLOCK_FORMAT;
        block.set(events, BLOCK_HEAD_BYTES);
        void this.raw.put(blockKey(this.numberOf(identity), timeMs, this.lastSequence), block);
        appended.set(identity, events.length);
      }
      void this.state.put('last-batch', { session: batch.session, number: batch.number });
    });
    return appended;
  }

  /** Yields the blocks that are not rolled up yet, oldest first; one at a time is in memory. */
  *blocksToRollUp(number: number): Generator<RawBlock> {
    const done = this.progress.get(targetKey(number));
    yield* this.blocks(done === undefined ? targetKey(number) : afterBlock(done), targetKey(number + 1));
  }

  /** Yields the blocks appended within this time, both ends included. */
  blocksBetween(number: number, fromMs: number, toMs: number): Generator<RawBlock> {
    const endMs = Math.min(toMs + 1, BLOCK_TIME_MS_MAX);
    return this.blocks(blockKey(number, fromMs, 0), blockKey(number, endMs, 0));
  }

  /** Yields the blocks appended last, the newest first. */
  newestBlocks(number: number): Generator<RawBlock> {
    return this.blocks(targetKey(number + 1), targetKey(number), true);
  }

  /** True if block times are ahead of the clock by more than `ms`. */
  isAheadBy(ms: number): boolean {
    return this.aheadMs > ms;
  }

  /** True if there are events to be rolled up. */
  hasBacklog(number: number): boolean {
    const last = this.lastBlock(number);
    if (last === undefined) return false;
    const done = this.progress.get(targetKey(number));
    return done === undefined || Buffer.compare(done, last) < 0;
  }

  /**
   * Adds the counts of the blocks up to `upTo` to the hourly roll-ups, in one transaction with the target's progress.
   */
  async addHours(number: number, hours: ReadonlyMap<number, RollUp>, upTo: Buffer): Promise<void> {
    await this.environment.transaction(() => {
      for (const [hour, rollUp] of hours) {
        const key = periodKey(number, hour);
        const stored = this.hours.get(key);
        if (stored !== undefined) rollUp.addStored(readRollUp(stored));
        void this.hours.put(key, rollUp.encodeHour());
      }
      void this.progress.put(targetKey(number), upTo);
    });
  }

  /** Replaces the roll-ups of a day's hours by that of the day, in one transaction. */
  async closeDay(number: number, day: number, rollUp: Buffer, hours: readonly number[]): Promise<void> {
    await this.environment.transaction(() => {
      void this.days.put(periodKey(number, day), rollUp);
      for (const hour of hours) void this.hours.remove(periodKey(number, hour));
    });
  }

  /** Yields the hours from `from` to `to`, both included. */
  hourRollUps(number: number, from: number, to: number): Generator<readonly [hour: number, StoredRollUp]> {
    return rollUpsOf(this.hours, number, from, to);
  }

  dayRollUps(number: number, from: number, to: number): Generator<readonly [day: number, StoredRollUp]> {
    return rollUpsOf(this.days, number, from, to);
  }

  /** Returns the numbers of the hours before `before` that have a roll-up. */
  hoursBefore(number: number, before: number): number[] {
    return Array.from(this.hours.getKeys({ start: periodKey(number, 0), end: periodKey(number, before) }), periodOf);
  }

  /** Marks the target: from now on nothing is appended for it. */
  async markForPurge(identity: string, dueMs: number): Promise<void> {
    await this.environment.transaction(() => {
      void this.purges.put(identity, { dueMs });
    });
  }

  isMarkedForPurge(identity: string): boolean {
    return this.purges.get(identity) !== undefined;
  }

  /** Returns the identities to be purged, with the time of the second purge. */
  purgeRows(): Map<string, PurgeRow> {
    return new Map(Array.from(this.purges.getRange(), ({ key, value }) => [key, value]));
  }

  async forgetPurge(identity: string): Promise<void> {
    await this.environment.transaction(() => {
      void this.purges.remove(identity);
    });
  }

  /** Removes everything of the target; awaits `turn` between its transactions, for other work. */
  async purge(identity: string, turn: () => Promise<void>): Promise<void> {
    const row = this.targets.get(identity);
    if (row === undefined) return;
    const range = { start: targetKey(row.number), end: targetKey(row.number + 1), limit: ROWS_PER_REMOVAL };
    for (const rows of [this.raw, this.hours, this.days]) {
      for (;;) {
        const keys = Array.from(rows.getKeys(range), (key) => Buffer.from(key));
        if (keys.length === 0) break;
        await this.environment.transaction(() => {
          for (const key of keys) void rows.remove(key);
        });
        await turn();
      }
    }
    await this.environment.transaction(() => {
      void this.progress.remove(targetKey(row.number));
      void this.targets.remove(identity);
    });
  }

  close(): Promise<void> {
    return this.environment.close();
  }

  private *blocks(start: Buffer, end: Buffer, reverse = false): Generator<RawBlock> {
    for (const { key, value } of this.raw.getRange({ start, end, reverse })) {
      if (value[0] !== BLOCK_FORMAT) throw new RangeError(`Events of format ${value[0]} cannot be read`);
      // Key and value are only valid for one step of the range.
      yield { key: Buffer.from(key), events: new Uint8Array(value.subarray(BLOCK_HEAD_BYTES)) };
    }
  }

  private lastBlock(number: number): Buffer | undefined {
    const range = { start: targetKey(number + 1), end: targetKey(number), reverse: true, limit: 1 };
    for (const key of this.raw.getKeys(range)) return Buffer.from(key);
    return undefined;
  }

  /** Returns the number of a target, creating it if necessary. Inside a transaction. */
  private numberOf(identity: string): number {
    const known = this.targets.get(identity);
    if (known !== undefined) return known.number;
    const number = ((this.state.get('last-target') as number | undefined) ?? 0) + 1;
    void this.state.put('last-target', number);
    void this.targets.put(identity, { number });
    return number;
  }

  private nextTimeMs(nowMs: number): number {
    if (nowMs > this.lastTimeMs) {
      this.lastTimeMs = nowMs;
      this.lastSequence = 0;
    } else if (this.lastSequence < SEQUENCE_MAX) this.lastSequence += 1;
    else {
      this.lastTimeMs += 1;
      this.lastSequence = 0;
    }
    this.aheadMs = this.lastTimeMs - nowMs;
    return this.lastTimeMs;
  }
}

function* rollUpsOf(rows: Bytes, number: number, from: number, to: number): Generator<readonly [number, StoredRollUp]> {
  const range = { start: periodKey(number, from), end: periodKey(number, to + 1) };
  for (const { key, value } of rows.getRange(range)) yield [periodOf(key), readRollUp(value)];
}
