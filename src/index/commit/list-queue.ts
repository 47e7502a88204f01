/**
 * The queue of a list's commits. Small writes that wait together become one commit (group commit); everything else is a
 * step of its own. Steps run one at a time, in order, and a failed step does not affect others. Main thread only.
 */
import { setTimeout } from 'node:timers/promises';
import type { ServiceError } from '../../platform/index.js';
import type { ListAdmission } from '../admission/write-admission.js';
import type { WriteRequest, WriteResult } from '../contract/types.js';

/** Maximum number of small writes in one commit. */
const GROUP_WRITES_MAX = 1000;
/**
 * Minimum time between the starts of two commits while several clients write at once. A commit costs milliseconds of
 * processor time however few records it has, and invalidates what searches have cached of the list. A single client
 * waits for its answer before the next write, so it is never delayed.
 */
const GATHERING_MS = 12;

export interface WaitingWrite {
  readonly request: WriteRequest;
  readonly bytes: number;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
}

type Step =
  /** `isBeside`: true if other writes were being committed when this one arrived. */
  | { readonly kind: 'write'; readonly write: WaitingWrite; readonly isBeside: boolean }
  | { readonly kind: 'exclusive'; readonly run: () => Promise<void> };

export interface Timer {
  readonly nowMs: () => number;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

const TIMER: Timer = { nowMs: () => performance.now(), pause: setTimeout };

export interface ListQueueOptions {
  readonly admission: ListAdmission;
  /** Maximum size in memory of the small writes of one commit. */
  readonly groupBytesMax: () => number;
  /** Commits the writes and settles each of them. Never rejects. */
  readonly commitGroup: (writes: readonly WaitingWrite[]) => Promise<void>;
  /** Monotonic clock and pause; tests may pass others. */
  readonly timer?: Timer;
}

export class ListQueue {
  private steps: Step[] = [];
  /** Actions that run before the next step, whatever waits. */
  private betweens: (() => Promise<void>)[] = [];
  private running: Promise<void> | undefined;
  private closedWith: ServiceError | undefined;
  /** Error with which new steps are refused while a last step runs, and after it. */
  private endingWith: ServiceError | undefined;
  /** Number of writes of the current commit that are not settled. */
  private unsettled = 0;

  private readonly timer: Timer;

  constructor(private readonly options: ListQueueOptions) {
    this.timer = options.timer ?? TIMER;
  }

  write(request: WriteRequest): Promise<WriteResult> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    return new Promise((resolve, reject) => {
      const bytes = approximateBytes(request);
      this.options.admission.admitWrite(bytes);
      const settled = <Value>(settle: (value: Value) => void) => {
        return (value: Value) => {
          this.unsettled -= 1;
          settle(value);
        };
      };
      const write = { request, bytes, resolve: settled(resolve), reject: settled(reject) };
      this.push({ kind: 'write', write, isBeside: this.unsettled > 0 });
    });
  }

  /**
   * As `exclusive`, for a client's request: it counts as a waiting write of that many bytes. Rejects with `overloaded`
   * if too many wait.
   */
  exclusiveWrite<Result>(bytes: number, action: () => Promise<Result>): Promise<Result> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    return new Promise((resolve) => {
      this.options.admission.admitWrite(bytes);
      const done = this.exclusive(() => {
        this.options.admission.writesTaken(1, bytes);
        return action();
      });
      resolve(done);
    });
  }

  /** Runs the action when everything queued before is done. Nothing else runs at the same time. */
  exclusive<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.queued(action, (run) => {
      this.push({ kind: 'exclusive', run });
    });
  }

  /**
   * As `exclusive`, but ahead of all waiting steps, for actions whose order does not matter, such as the commit of a
   * merge. The action runs when the current step is done, and does not divide the waiting writes into two groups.
   */
  between<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.queued(action, (run) => {
      this.betweens.push(run);
      this.running ??= this.run();
    });
  }

  /**
   * As `exclusive`, but only if nothing else waits when the turn comes and `isWanted` returns true then. Resolves with
   * false otherwise. Steps that come while the action runs are refused with `reason`, and so are all later ones unless
   * the action rejects.
   */
  last(reason: ServiceError, isWanted: () => boolean, action: () => Promise<void>): Promise<boolean> {
    return this.exclusive(async () => {
      if (this.steps.length + this.betweens.length > 0 || !isWanted()) return false;
      this.endingWith = reason;
      try {
        await action();
        return true;
      } catch (error) {
        this.endingWith = undefined;
        throw error;
      }
    });
  }

  /** True if nothing is waiting or running. */
  get isIdle(): boolean {
    return this.running === undefined;
  }

  /** Refuses new steps with `reason`; resolves when the accepted ones are done. */
  async close(reason: ServiceError): Promise<void> {
    this.closedWith ??= reason;
    await this.running;
  }

  private get refusal(): ServiceError | undefined {
    return this.closedWith ?? this.endingWith;
  }

  private queued<Result>(action: () => Promise<Result>, push: (run: () => Promise<void>) => void): Promise<Result> {
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    return new Promise((resolve) => {
      push(async () => {
        const result = Promise.resolve().then(action);
        resolve(result);
        await result.catch(() => undefined);
      });
    });
  }

  private push(step: Step): void {
    this.steps.push(step);
    this.running ??= this.run();
  }

  private async run(): Promise<void> {
    // Writes that arrive in this turn of the event loop form one group.
    await new Promise<void>((resolve) => setImmediate(resolve));
    let committedAtMs = -Infinity;
    for (;;) {
      // Run while writes are being gathered anyway, so they delay no writer.
      for (let run = this.betweens.shift(); run !== undefined; run = this.betweens.shift()) await run();
      const [step] = this.steps;
      if (step === undefined) break;
      if (step.kind === 'exclusive') {
        this.steps.shift();
        await step.run();
      } else {
        if (step.isBeside) await this.gather(committedAtMs);
        committedAtMs = this.timer.nowMs();
        await this.options.commitGroup(this.takeGroup());
      }
    }
    this.running = undefined;
  }

  private async gather(committedAtMs: number): Promise<void> {
    const { nowMs, pause } = this.timer;
    const waitMs = committedAtMs + GATHERING_MS - nowMs();
    if (waitMs > 0 && this.closedWith === undefined) await pause(waitMs);
  }

  private takeGroup(): WaitingWrite[] {
    const group: WaitingWrite[] = [];
    let bytes = 0;
    const groupBytesMax = this.options.groupBytesMax();
    for (const step of this.steps) {
      if (step.kind !== 'write' || group.length >= GROUP_WRITES_MAX) break;
      if (group.length > 0 && bytes + step.write.bytes > groupBytesMax) break;
      group.push(step.write);
      bytes += step.write.bytes;
    }
    this.steps = this.steps.slice(group.length);
    this.unsettled += group.length;
    this.options.admission.writesTaken(group.length, bytes);
    return group;
  }
}

/** Returns the approximate size of a request in memory, nearly all of which is strings. */
export function approximateBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return 16 + value.length * 2;
    case 'object': {
      if (value === null) return 8;
      if (ArrayBuffer.isView(value)) return 32 + value.byteLength;
      let bytes = 32;
      // `Object.entries` would create an entry and a key text for each element: half a second for a million numbers.
      if (Array.isArray(value)) {
        for (const content of value) bytes += approximateBytes(content);
        return bytes;
      }
      for (const [member, content] of Object.entries(value)) bytes += member.length + approximateBytes(content);
      return bytes;
    }
    default:
      return 8;
  }
}
