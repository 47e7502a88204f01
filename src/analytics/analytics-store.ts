/**
 * `data/analytics`: raw events, roll-ups and what is to be purged, in one LMDB environment. `docs/formats.md` describes it.
 *
 * Invariants: everything up to a target's `progress` is in its roll-ups and nothing behind it is, for both change in one transaction;
 * numbers of targets are never used twice; a batch is appended once, however often it is sent. What a method changes is on disk when it
 * resolves. One thread owns the store and runs the methods that change something one after the other; only `purge` may overlap with
 * others, once its target is marked.
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
/** Rows that one transaction removes, so that deleting years of events never holds up the events that come in. */
const ROWS_PER_REMOVAL = 500;

type Bytes = Database<Buffer, Buffer>;

export interface TargetRow {
  readonly number: number;
}

/** A stretch of raw events. */
export interface RawBlock {
  readonly key: Buffer;
  readonly events: Uint8Array;
}

export interface PurgeRow {
  /** From when on it is to be purged again. */
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
  /** Block keys ascend, also where the clock does not. */
  private lastTimeMs = 0;
  /** How far it is ahead of the clock: that was set back since. */
  private aheadMs = 0;
  /** At the start as if the last millisecond were full: what was appended in it is not to be written over. */
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
      // Whoever opens it next is to map the file anew.
      void this.environment.close();
      throw error;
    }
  }

  /** By identity. */
  targetRows(): Map<string, TargetRow> {
    return new Map(Array.from(this.targets.getRange(), ({ key, value }) => [key, value]));
  }

  target(identity: string): TargetRow | undefined {
    return this.targets.get(identity);
  }

  /** Appends the events of a batch, but for those of targets that are to be purged. Resolves with the events' bytes by identity. */
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

  /** Blocks behind what is rolled up, oldest first; one at a time is in memory. */
  *blocksToRollUp(number: number): Generator<RawBlock> {
    const done = this.progress.get(targetKey(number));
    yield* this.blocks(done === undefined ? targetKey(number) : afterBlock(done), targetKey(number + 1));
  }

  /** Blocks that were appended in this time, both ends included. */
  blocksBetween(number: number, fromMs: number, toMs: number): Generator<RawBlock> {
    const endMs = Math.min(toMs + 1, BLOCK_TIME_MS_MAX);
    return this.blocks(blockKey(number, fromMs, 0), blockKey(number, endMs, 0));
  }

  /** Those that were appended last, the newest first. */
  newestBlocks(number: number): Generator<RawBlock> {
    return this.blocks(targetKey(number + 1), targetKey(number), true);
  }

  /** Whether blocks have times by now that are so much later than the clock when they were appended. */
  isAheadBy(ms: number): boolean {
    return this.aheadMs > ms;
  }

  /** True where events wait for being rolled up. */
  hasBacklog(number: number): boolean {
    const last = this.lastBlock(number);
    if (last === undefined) return false;
    const done = this.progress.get(targetKey(number));
    return done === undefined || Buffer.compare(done, last) < 0;
  }

  /** Adds to the roll-ups of hours what the blocks up to `upTo` hold, in one step with the target's progress. */
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

  /** Puts the roll-up of a day in the place of those of its hours, in one step. */
  async closeDay(number: number, day: number, rollUp: Buffer, hours: readonly number[]): Promise<void> {
    await this.environment.transaction(() => {
      void this.days.put(periodKey(number, day), rollUp);
      for (const hour of hours) void this.hours.remove(periodKey(number, hour));
    });
  }

  /** Hours from `from` to `to`, both included. */
  hourRollUps(number: number, from: number, to: number): Generator<readonly [hour: number, StoredRollUp]> {
    return rollUpsOf(this.hours, number, from, to);
  }

  dayRollUps(number: number, from: number, to: number): Generator<readonly [day: number, StoredRollUp]> {
    return rollUpsOf(this.days, number, from, to);
  }

  /** Numbers of the hours before `before` that have a roll-up. */
  hoursBefore(number: number, before: number): number[] {
    return Array.from(this.hours.getKeys({ start: periodKey(number, 0), end: periodKey(number, before) }), periodOf);
  }

  /** From now on nothing is appended for the target. */
  async markForPurge(identity: string, dueMs: number): Promise<void> {
    await this.environment.transaction(() => {
      void this.purges.put(identity, { dueMs });
    });
  }

  isMarkedForPurge(identity: string): boolean {
    return this.purges.get(identity) !== undefined;
  }

  /** Identities that are to be purged, with the time of the second purge. */
  purgeRows(): Map<string, PurgeRow> {
    return new Map(Array.from(this.purges.getRange(), ({ key, value }) => [key, value]));
  }

  async forgetPurge(identity: string): Promise<void> {
    await this.environment.transaction(() => {
      void this.purges.remove(identity);
    });
  }

  /** Removes everything of the target; between its transactions `turn` lets other work go on. */
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
      // Both are good for one step of the range only.
      yield { key: Buffer.from(key), events: new Uint8Array(value.subarray(BLOCK_HEAD_BYTES)) };
    }
  }

  private lastBlock(number: number): Buffer | undefined {
    const range = { start: targetKey(number + 1), end: targetKey(number), reverse: true, limit: 1 };
    for (const key of this.raw.getKeys(range)) return Buffer.from(key);
    return undefined;
  }

  /** In a transaction. */
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
