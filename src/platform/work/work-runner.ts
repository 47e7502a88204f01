/**
 * Does the work of one queue: a lane for each receiver, slots shared by the lanes, and outcomes written in batches. One
 * thread only.
 */
import type { RetrySchedule } from './retry-schedule.js';
import { SettlementBuffer } from './settlement-buffer.js';
import type { Timers } from './timers.js';
import type { LaneWorker, Settlement, WorkTypes } from './work-kind.js';
import { ASKED_WAIT_MS_MAX, WorkLane } from './work-lane.js';
import type { WorkQueue } from './work-queue.js';
import { WorkSlots } from './work-slots.js';

/** Corrections of the clock below this are ignored. */
const CLOCK_STEP_MS = 60_000;

export interface WorkRunnerOptions<T extends WorkTypes> {
  readonly queue: WorkQueue<T>;
  readonly timers: Timers;
  readonly schedule: RetrySchedule;
  /**
   * Longest wait meant for any item (at least that of `schedule`); a longer one was computed by another clock. Default
   * one day.
   */
  readonly waitMsMax?: number;
  /** Attempts in progress: per receiver, and in total. */
  readonly perReceiverMax: number;
  readonly totalMax: number;
  /**
   * `gathered`: writes outcomes of many attempts at a time, for cheap attempts; those not written when the process ends
   * are repeated. `each`: writes before the next attempt begins, so that at most the attempts in progress are repeated.
   */
  readonly writing: 'gathered' | 'each';
  /**
   * Settles in one transaction, and writes the notes; rejects if nothing of it is on disk, and is called again then.
   */
  readonly write: (settlements: readonly Settlement<T>[]) => Promise<void>;
  readonly onWriteFailure: (error: unknown) => void;
}

export class WorkRunner<T extends WorkTypes> {
  private readonly lanes = new Map<string, WorkLane<T>>();
  private readonly slots: WorkSlots;
  private readonly buffer: SettlementBuffer<T>;

  constructor(private readonly options: WorkRunnerOptions<T>) {
    const { timers, write, onWriteFailure } = options;
    this.slots = new WorkSlots(options.perReceiverMax, options.totalMax);
    this.buffer = new SettlementBuffer({ timers, write, onFailure: onWriteFailure });
  }

  /** Starts to do the work of the lane. */
  add(lane: string, worker: LaneWorker<T>): void {
    const { queue, timers, schedule, waitMsMax = ASKED_WAIT_MS_MAX } = this.options;
    const added = new WorkLane({
      lane,
      queue,
      worker,
      timers,
      schedule,
      waitMsMax: Math.max(waitMsMax, schedule.longestMs) + CLOCK_STEP_MS,
      slots: this.slots,
      settle: (settlement, onSettled) => {
        this.buffer.push(settlement, onSettled);
      },
      afterAttempt: () => (this.options.writing === 'each' ? this.buffer.flush() : undefined),
    });
    this.lanes.set(lane, added);
    added.wake();
  }

  has(lane: string): boolean {
    return this.lanes.has(lane);
  }

  names(): string[] {
    return [...this.lanes.keys()];
  }

  /** The lane may have something to do. */
  wake(lane: string): void {
    this.lanes.get(lane)?.wake();
  }

  /** Resets the health of the lane's receiver, since the worker asks another one from now on. */
  forgive(lane: string): void {
    this.lanes.get(lane)?.forgive();
  }

  /** Removes a lane, aborting its attempts; resolves when none is in progress. */
  async remove(lane: string): Promise<void> {
    const removed = this.lanes.get(lane);
    this.lanes.delete(lane);
    await removed?.stop(0);
    await this.buffer.flush();
  }

  /** Time until which nothing is done: 0 if something is in progress, Infinity if nothing waits. */
  get restsUntilMs(): number {
    if (!this.buffer.isEmpty) return 0;
    return Math.min(Infinity, ...Array.from(this.lanes.values(), (lane) => lane.restsUntilMs));
  }

  /** Resolves when the outcomes of all attempts so far are on disk, or could not be written. */
  flushed(): Promise<void> {
    return this.buffer.flush();
  }

  /** Ends attempts within the time, and writes their outcomes. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.lanes.values()].map((lane) => lane.stop(graceMs)));
    await this.buffer.close();
  }
}
