/**
 * Everything that does the work of one queue: a lane for each who is asked, slots that they share, and outcomes that are written down
 * many at a time. One thread only.
 */
import type { RetrySchedule } from './retry-schedule.js';
import { SettlementBuffer } from './settlement-buffer.js';
import type { Timers } from './timers.js';
import type { LaneWorker, Settlement, WorkTypes } from './work-kind.js';
import { ASKED_WAIT_MS_MAX, WorkLane } from './work-lane.js';
import type { WorkQueue } from './work-queue.js';
import { WorkSlots } from './work-slots.js';

/** A clock that is set right by so little is not taken for another one. */
const CLOCK_STEP_MS = 60_000;

export interface WorkRunnerOptions<T extends WorkTypes> {
  readonly queue: WorkQueue<T>;
  readonly timers: Timers;
  readonly schedule: RetrySchedule;
  /** Nothing is meant to wait for longer than this or the longest wait of `schedule`: what does was put there by another clock. Default a day. */
  readonly waitMsMax?: number;
  /** Attempts under way, at one receiver and at all. */
  readonly perReceiverMax: number;
  readonly totalMax: number;
  /**
   * `gathered`: outcomes of many attempts at a time, for attempts that cost little; the process may end with some that are not written,
   * and these are made again. `each`: before the next attempt begins, so that one of those under way is made again at most.
   */
  readonly writing: 'gathered' | 'each';
  /** Settles in one transaction, and writes what the notes say; rejects where nothing of it is on disk, and is called again. */
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

  /** Does what waits in the lane from now on. */
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

  /** There may be something to do. */
  wake(lane: string): void {
    this.lanes.get(lane)?.wake();
  }

  /** The lane's worker asks somebody else from now on. */
  forgive(lane: string): void {
    this.lanes.get(lane)?.forgive();
  }

  /** Breaks off what is under way there; resolves when nothing of it is. */
  async remove(lane: string): Promise<void> {
    const removed = this.lanes.get(lane);
    this.lanes.delete(lane);
    await removed?.stop(0);
    await this.buffer.flush();
  }

  /** Until when nothing is done: 0 where something is under way, Infinity where nothing waits for its time. */
  get restsUntilMs(): number {
    if (!this.buffer.isEmpty) return 0;
    return Math.min(Infinity, ...Array.from(this.lanes.values(), (lane) => lane.restsUntilMs));
  }

  /** Resolves when the outcomes of all attempts so far are on disk, or could not be written. */
  flushed(): Promise<void> {
    return this.buffer.flush();
  }

  /** Ends attempts within the time, and writes down what they came to. */
  async close(graceMs: number): Promise<void> {
    await Promise.all([...this.lanes.values()].map((lane) => lane.stop(graceMs)));
    await this.buffer.close();
  }
}
