/**
 * Jobs of which nobody says when they end: a file that somebody sends in pieces, messages that go out as things happen. One is on the board
 * while it goes on, and ends when nothing was done for a while. Main thread only.
 */
import type { Job, JobBeginning, ProgressBoard } from './progress.js';

/** Longer than the pause between two pieces of an import over a slow line. */
const QUIET_MS = 3_000;

interface PassingJob {
  readonly job: Job;
  readonly end: NodeJS.Timeout;
}

export class PassingJobs {
  private readonly jobs = new Map<string, PassingJob>();

  constructor(
    private readonly board: ProgressBoard,
    private readonly quietMs = QUIET_MS,
  ) {}

  /** So much more was done. */
  advance(beginning: Omit<JobBeginning, 'total' | 'doneBefore'>, count: number): void {
    const { job, end } = this.jobs.get(beginning.subject) ?? this.begin(beginning);
    job.advance(count);
    end.refresh();
  }

  /** Those that are there end now. */
  close(): void {
    for (const { end } of this.jobs.values()) clearTimeout(end);
    for (const { job } of this.jobs.values()) job.stop();
    this.jobs.clear();
  }

  private begin(beginning: Omit<JobBeginning, 'total' | 'doneBefore'>): PassingJob {
    const job = this.board.begin({ ...beginning, total: null });
    const end = setTimeout(() => {
      this.jobs.delete(beginning.subject);
      job.finish();
    }, this.quietMs);
    // A process that has nothing else to do does not wait for it.
    end.unref();
    const passing = { job, end };
    this.jobs.set(beginning.subject, passing);
    job.start();
    return passing;
  }
}
