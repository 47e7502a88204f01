/**
 * The one queue of a list's commits. Small writes that wait together go together (group commit); everything else is a step of
 * its own. One step at a time, in order; a step that fails harms no other. Main thread only.
 */
import { setTimeout } from 'node:timers/promises';
import type { ServiceError } from '../../platform/index.js';
import type { ListAdmission } from '../admission/write-admission.js';
import type { WriteRequest, WriteResult } from '../contract/types.js';

/** Small writes of one commit. */
const GROUP_WRITES_MAX = 1000;
/**
 * Where several write at once, the next commit begins so long after the one before: a commit costs milliseconds of processor time, and the
 * searches behind it ask anew what they know of the list, however few records it brings. Whoever writes alone waits for its answer before
 * the next write, and never for this.
 */
const GATHERING_MS = 12;

export interface WaitingWrite {
  readonly request: WriteRequest;
  readonly bytes: number;
  readonly resolve: (result: WriteResult) => void;
  readonly reject: (error: unknown) => void;
}

type Step =
  /** `isBeside`: others were being committed when it came. */
  | { readonly kind: 'write'; readonly write: WaitingWrite; readonly isBeside: boolean }
  | { readonly kind: 'exclusive'; readonly run: () => Promise<void> };

export interface Timer {
  readonly nowMs: () => number;
  readonly pause: (milliseconds: number) => Promise<unknown>;
}

const TIMER: Timer = { nowMs: () => performance.now(), pause: setTimeout };

export interface ListQueueOptions {
  readonly admission: ListAdmission;
  /** Small writes of one commit, by their size in memory. */
  readonly groupBytesMax: () => number;
  /** Commits the writes and settles every one of them; never rejects. */
  readonly commitGroup: (writes: readonly WaitingWrite[]) => Promise<void>;
  /** Time as it passes; a test may have another. */
  readonly timer?: Timer;
}

export class ListQueue {
  private steps: Step[] = [];
  /** What waits for no step, and no write for it. */
  private betweens: (() => Promise<void>)[] = [];
  private running: Promise<void> | undefined;
  private closedWith: ServiceError | undefined;
  /** Writes of the commit that is under way. */
  private unsettled = 0;

  private readonly timer: Timer;

  constructor(private readonly options: ListQueueOptions) {
    this.timer = options.timer ?? TIMER;
  }

  write(request: WriteRequest): Promise<WriteResult> {
    if (this.closedWith !== undefined) return Promise.reject(this.closedWith);
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

  /** As `exclusive`, for what a client asks for: it waits as a write of so many bytes. */
  exclusiveWrite<Result>(bytes: number, action: () => Promise<Result>): Promise<Result> {
    if (this.closedWith !== undefined) return Promise.reject(this.closedWith);
    return new Promise((resolve) => {
      this.options.admission.admitWrite(bytes);
      const done = this.exclusive(() => {
        this.options.admission.writesTaken(1, bytes);
        return action();
      });
      resolve(done);
    });
  }

  /** Runs the action when everything before it is done, and nothing beside it. */
  exclusive<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.queued(action, (run) => {
      this.push({ kind: 'exclusive', run });
    });
  }

  /**
   * As `exclusive`, for what has no place in the order of the others, as the commit of a merge: it runs when the present step is done,
   * and writes that come after it go with those before.
   */
  between<Result>(action: () => Promise<Result>): Promise<Result> {
    return this.queued(action, (run) => {
      this.betweens.push(run);
      this.running ??= this.run();
    });
  }

  /** True where nothing waits and nothing is done. */
  get isIdle(): boolean {
    return this.running === undefined;
  }

  /** Takes nothing more; resolves when what was taken is done. */
  async close(reason: ServiceError): Promise<void> {
    this.closedWith ??= reason;
    await this.running;
  }

  private queued<Result>(action: () => Promise<Result>, push: (run: () => Promise<void>) => void): Promise<Result> {
    if (this.closedWith !== undefined) return Promise.reject(this.closedWith);
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
    // Writes that arrive in this turn of the event loop are taken together.
    await new Promise<void>((resolve) => setImmediate(resolve));
    let committedAtMs = -Infinity;
    for (;;) {
      // In the pause in which writers are gathered, which costs them nothing.
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

/** About what a request takes in memory; strings make up nearly all of it. */
export function approximateBytes(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return 16 + value.length * 2;
    case 'object': {
      if (value === null) return 8;
      if (ArrayBuffer.isView(value)) return 32 + value.byteLength;
      let bytes = 32;
      // The entries of an array would be made one by one, with a text for each place: half a second for a million numbers.
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
