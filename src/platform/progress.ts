/**
 * Progress of long-running jobs, in one place: whoever runs a job begins it on the board, and readers read the board or
 * listen. What a job must know after a restart is on disk with its work; the job begins with that. Main thread only.
 */

/** Progress and speed. */
export interface Pace {
  /** Per second since the begin. */
  readonly rate: number;
  /** 0 to 1; undefined if the total is not known. */
  readonly share: number | undefined;
  /** Seconds left at this rate; undefined if nothing is done yet or the total is not known. */
  readonly secondsLeft: number | undefined;
}

export interface Covered {
  readonly done: number;
  /** Null if it is not known. */
  readonly total: number | null;
  readonly seconds: number;
  /** Part of `done` that was done before `seconds` began. */
  readonly doneBefore?: number;
}

/** Lower bound of the divisor, so that a job that has just begun has a rate. */
const SECONDS_MIN = 0.001;

export function paceOf({ done, total, seconds, doneBefore = 0 }: Covered): Pace {
  const rate = Math.max(0, done - doneBefore) / Math.max(seconds, SECONDS_MIN);
  const share = total === null ? undefined : total === 0 ? 1 : Math.min(1, done / total);
  const isKnown = total !== null && rate > 0 && seconds > 0;
  return { rate, share, secondsLeft: isKnown ? Math.max(0, total - done) / rate : undefined };
}

/** Clock of a board; `steadyMs` never goes back. */
export interface JobClock {
  nowIso(): string;
  steadyMs(): number;
}

const systemJobClock: JobClock = { nowIso: () => new Date().toISOString(), steadyMs: () => performance.now() };

export type JobState = 'waiting' | 'running' | 'done' | 'failed' | 'stopped';

/** A job as readers see it, with member names as in answers of the API. */
export interface JobProgress {
  readonly kind: string;
  /** What it works on, such as the id of a list. There is one job per kind and subject at a time. */
  readonly subject: string;
  /** Undefined: the job belongs to the list whose id is the subject. */
  readonly owner: JobOwner | undefined;
  readonly state: JobState;
  readonly done: number;
  /** Null if it is not known. */
  readonly total: number | null;
  readonly rate_per_second: number;
  readonly seconds_left: number | null;
  /** Null while the job waits. */
  readonly started_utc: string | null;
  readonly message: string | null;
}

/** The account that owns a job, and the permission needed to see it. */
export interface JobOwner {
  readonly account: string;
  /** Name of what the job works on. */
  readonly name: string;
  readonly permission: string;
}

export interface JobBeginning {
  readonly kind: string;
  readonly subject: string;
  /** Not given for lists, which are found by their ids. */
  readonly owner?: JobOwner;
  readonly total: number | null;
  /** What an earlier run has done, which this one continues. */
  readonly doneBefore?: number;
}

type JobListener = (job: Job) => void;

export class ProgressBoard {
  private readonly jobs = new Map<string, Job>();
  private readonly listeners = new Set<JobListener>();
  private changes = 0;

  constructor(private readonly clock: JobClock = systemJobClock) {}

  /** Begins a job, which waits until `Job.start`. Removes an existing job of the same kind and subject. */
  begin(beginning: JobBeginning): Job {
    const key = keyOf(beginning);
    const job: Job = new Job(beginning, this.clock, () => {
      // A job that was replaced is no longer reported.
      if (this.jobs.get(key) !== job) return;
      if (job.hasEnded) {
        this.jobs.delete(key);
        this.changes += 1;
      }
      for (const listener of this.listeners) listener(job);
    });
    this.jobs.set(key, job);
    this.changes += 1;
    return job;
  }

  read(kind: string, subject: string): JobProgress | undefined {
    return this.jobs.get(keyOf({ kind, subject }))?.read();
  }

  /** Returns the jobs that wait or run, in the order in which they began. */
  all(): JobProgress[] {
    return [...this.jobs.values()].map((job) => job.read());
  }

  /** Returns the same jobs without reading their progress, since there may be thousands. */
  each(): IterableIterator<Job> {
    return this.jobs.values();
  }

  /** Changes whenever a job is added or removed. */
  get generation(): number {
    return this.changes;
  }

  /** Number of listeners. */
  get listenerCount(): number {
    return this.listeners.size;
  }

  /** Calls `listener` for each change of a job, up to its end. Returns a function that stops that. */
  listen(listener: JobListener): () => void {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  }
}

export class Job {
  private state: JobState = 'waiting';
  private done: number;
  private started: { readonly utc: string; readonly ms: number } | undefined;
  private message: string | null = null;

  /** Only called by the board. */
  constructor(
    private readonly beginning: JobBeginning,
    private readonly clock: JobClock,
    private readonly changed: () => void,
  ) {
    this.done = beginning.doneBefore ?? 0;
  }

  get subject(): string {
    return this.beginning.subject;
  }

  get owner(): JobOwner | undefined {
    return this.beginning.owner;
  }

  get hasEnded(): boolean {
    return this.state === 'done' || this.state === 'failed' || this.state === 'stopped';
  }

  get hasStarted(): boolean {
    return this.started !== undefined;
  }

  start(): void {
    this.started = { utc: this.clock.nowIso(), ms: this.clock.steadyMs() };
    this.turn('running');
  }

  /** Reports that `count` more is done. */
  advance(count: number): void {
    this.done += count;
    this.changed();
  }

  /** Sets what the job is doing, in a few words for people. */
  say(message: string): void {
    this.message = message;
    this.changed();
  }

  finish(): void {
    this.turn('done');
  }

  fail(message: string): void {
    this.message = message;
    this.turn('failed');
  }

  /** Stops the job; a later run continues it. */
  stop(): void {
    this.turn('stopped');
  }

  read(): JobProgress {
    const { kind, subject, owner, total, doneBefore = 0 } = this.beginning;
    const { done, started, state, message } = this;
    const seconds = started === undefined ? 0 : (this.clock.steadyMs() - started.ms) / 1000;
    const { rate, secondsLeft } = paceOf({ done, total, seconds, doneBefore });
    return {
      ...{ kind, subject, owner, state, done, total, message },
      rate_per_second: rate,
      seconds_left: secondsLeft ?? null,
      started_utc: started?.utc ?? null,
    };
  }

  private turn(state: JobState): void {
    if (this.hasEnded) return;
    this.state = state;
    this.changed();
  }
}

function keyOf({ kind, subject }: Pick<JobBeginning, 'kind' | 'subject'>): string {
  return `${kind}\n${subject}`;
}
