/**
 * What jobs that run for a while have done so far, told in one place: whoever runs one begins it on the board, whoever wants to know reads
 * the board or listens. What a job has to know after a restart is on disk with its work; it begins with that. Main thread only.
 */

/** How far something is and how fast it goes. */
export interface Pace {
  /** A second, since it began. */
  readonly rate: number;
  /** 0 to 1; undefined where the whole is not known. */
  readonly share: number | undefined;
  /** At this rate; undefined where nothing is done yet or the whole is not known. */
  readonly secondsLeft: number | undefined;
}

export interface Covered {
  readonly done: number;
  /** Null where it is not known. */
  readonly total: number | null;
  readonly seconds: number;
  /** What was done before the time began. */
  readonly doneBefore?: number;
}

/** Less would make a rate of what has only begun. */
const SECONDS_MIN = 0.001;

export function paceOf({ done, total, seconds, doneBefore = 0 }: Covered): Pace {
  const rate = Math.max(0, done - doneBefore) / Math.max(seconds, SECONDS_MIN);
  const share = total === null ? undefined : total === 0 ? 1 : Math.min(1, done / total);
  const isKnown = total !== null && rate > 0 && seconds > 0;
  return { rate, share, secondsLeft: isKnown ? Math.max(0, total - done) / rate : undefined };
}

/** What a board looks at; the steady one never goes back. */
export interface JobClock {
  nowIso(): string;
  steadyMs(): number;
}

const systemJobClock: JobClock = { nowIso: () => new Date().toISOString(), steadyMs: () => performance.now() };

export type JobState = 'waiting' | 'running' | 'done' | 'failed' | 'stopped';

/** A job as readers see it; names as an answer would have them. */
export interface JobProgress {
  readonly kind: string;
  /** What it works on, such as the id of a list. One job of a kind and subject at a time. */
  readonly subject: string;
  /** Whose it is; undefined: the list whose id the subject is. */
  readonly owner: JobOwner | undefined;
  readonly state: JobState;
  readonly done: number;
  /** Null where it is not known. */
  readonly total: number | null;
  readonly rate_per_second: number;
  readonly seconds_left: number | null;
  /** Null while it waits. */
  readonly started_utc: string | null;
  readonly message: string | null;
}

/** Whose a job is, and by which permission it may be seen. */
export interface JobOwner {
  readonly account: string;
  /** Of what it works on, as people call it. */
  readonly name: string;
  readonly permission: string;
}

export interface JobBeginning {
  readonly kind: string;
  readonly subject: string;
  /** Not for lists, which are known by their ids. */
  readonly owner?: JobOwner;
  readonly total: number | null;
  /** Of an earlier run that this one goes on with. */
  readonly doneBefore?: number;
}

type JobListener = (job: Job) => void;

export class ProgressBoard {
  private readonly jobs = new Map<string, Job>();
  private readonly listeners = new Set<JobListener>();
  private changes = 0;

  constructor(private readonly clock: JobClock = systemJobClock) {}

  /** It waits until `Job.start`. One of the same kind and subject that is there is taken off. */
  begin(beginning: JobBeginning): Job {
    const key = keyOf(beginning);
    const job: Job = new Job(beginning, this.clock, () => {
      // One that was replaced says no more.
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

  /** Those that wait or run, in the order in which they were begun. */
  all(): JobProgress[] {
    return [...this.jobs.values()].map((job) => job.read());
  }

  /** The same jobs, not read: there may be thousands. */
  each(): IterableIterator<Job> {
    return this.jobs.values();
  }

  /** Another one as soon as a job has come or gone. */
  get generation(): number {
    return this.changes;
  }

  /** How many listen. */
  get listenerCount(): number {
    return this.listeners.size;
  }

  /** Told of each change, the last of which is its end. Returns what ends it. */
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

  /** Made by the board. */
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

  /** So much more is done. */
  advance(count: number): void {
    this.done += count;
    this.changed();
  }

  /** What it is at, as a few words for people. */
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

  /** It goes on another time. */
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
