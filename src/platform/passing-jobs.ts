/**
 * Jobs whose end nobody reports reliably, such as a file that is uploaded in pieces, or deliveries that are sent as
 * events happen. A job is on the board while it advances or is held, and ends when nothing was done for a while; sooner
 * if all its holders are done. Main thread only.
 */
import type { Job, JobBeginning, ProgressBoard } from './progress.js';

/** Longer than the pause between two pieces of an import over a slow line. */
const QUIET_MS = 3_000;
/**
 * Time after the last holder is done: the next of several uploads of one file comes sooner, and listeners have been
 * told by then of all that was done.
 */
const OVER_MS = 1_000;

interface PassingJob {
  readonly job: Job;
  /** Number of holders that are about to do a part of it. */
  held: number;
  /** Timer of its end; undefined while there are holders. */
  end: NodeJS.Timeout | undefined;
}

export class PassingJobs {
  private readonly jobs = new Map<string, PassingJob>();

  constructor(
    private readonly board: ProgressBoard,
    private readonly quietMs = QUIET_MS,
  ) {}

  /**
   * Announces that the caller is about to do a part of the job. The job stays on the board, waiting until it advances,
   * until the returned function is called; that may be called more than once, and then ends the job soon.
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

  /** Reports that `count` more was done. */
  advance(beginning: Omit<JobBeginning, 'total' | 'doneBefore'>, count: number): void {
    const passing = this.jobs.get(beginning.subject) ?? this.begin(beginning);
    if (!passing.job.hasStarted) passing.job.start();
    passing.job.advance(count);
    this.endAfter(passing, this.quietMs);
  }

  /** Ends all jobs now. */
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

  /** Unreferenced: the timer does not keep the process alive. */
  private timerOf(job: Job, ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.jobs.delete(job.subject);
      job.finish();
    }, ms).unref();
  }
}
