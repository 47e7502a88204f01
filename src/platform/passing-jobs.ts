/**
 * Jobs of which nobody surely says when they end: a file that somebody sends in pieces, messages that go out as things happen. One is on the
 * board while it goes on or somebody is about to do some of it, and ends when nothing was done for a while, a shorter one where all who were
 * about to are done. Main thread only.
 */
import type { Job, JobBeginning, ProgressBoard } from './progress.js';

/** Longer than the pause between two pieces of an import over a slow line. */
const QUIET_MS = 3_000;
/** Behind what is over the next of a file that is sent as several comes sooner; and whoever listens has been told by then of all that was done. */
const OVER_MS = 1_000;

interface PassingJob {
  readonly job: Job;
  /** How many are about to do some of it. */
  held: number;
  /** Undefined while there are such. */
  end: NodeJS.Timeout | undefined;
}

export class PassingJobs {
  private readonly jobs = new Map<string, PassingJob>();

  constructor(
    private readonly board: ProgressBoard,
    private readonly quietMs = QUIET_MS,
  ) {}

  /**
   * Somebody is about to do some of it: it is told of until they are done, and waits until something is. Returns what is to be called then,
   * once or more: whoever waits for the end does not wait for long.
   */
  hold(beginning: Omit<JobBeginning, 'total' | 'doneBefore'>): () => void {
    const passing = this.jobs.get(beginning.subject) ?? this.begin(beginning);
    passing.held += 1;
    clearTimeout(passing.end);
    passing.end = undefined;
    let isHeld = true;
    return () => {
      if (isHeld) passing.held -= 1;
      isHeld = false;
      if (this.jobs.get(beginning.subject) === passing) this.endAfter(passing, Math.min(OVER_MS, this.quietMs));
    };
  }

  /** So much more was done. */
  advance(beginning: Omit<JobBeginning, 'total' | 'doneBefore'>, count: number): void {
    const passing = this.jobs.get(beginning.subject) ?? this.begin(beginning);
    if (!passing.job.hasStarted) passing.job.start();
    passing.job.advance(count);
    this.endAfter(passing, this.quietMs);
  }

  /** Those that are there end now. */
  close(): void {
    for (const { end } of this.jobs.values()) clearTimeout(end);
    for (const { job } of this.jobs.values()) job.stop();
    this.jobs.clear();
  }

  private begin(beginning: Omit<JobBeginning, 'total' | 'doneBefore'>): PassingJob {
    const job = this.board.begin({ ...beginning, total: null });
    const passing = { job, held: 0, end: undefined };
    this.jobs.set(beginning.subject, passing);
    return passing;
  }

  private endAfter(passing: PassingJob, ms: number): void {
    if (passing.held > 0) return;
    clearTimeout(passing.end);
    passing.end = this.timerOf(passing.job, ms);
  }

  /** A process that has nothing else to do does not wait for it. */
  private timerOf(job: Job, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.jobs.delete(job.subject);
      job.finish();
    }, ms).unref();
  }
}
