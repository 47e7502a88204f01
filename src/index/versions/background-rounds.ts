/**
 * Runs background work of a list, one piece after the other, as long as there is some. Looks for work after each commit
 * and each piece. A failure is logged, and retried after a pause that doubles each time. Main thread only.
 */
import type { BackgroundHost } from './background-host.js';

const RETRY_PAUSE_MS = 5000;
const RETRY_PAUSE_MS_MAX = 300_000;

export interface BackgroundRoundsOptions {
  readonly host: Pick<BackgroundHost, 'log' | 'listPath' | 'clock'>;
  /** Returns the next piece of work; undefined if there is none. */
  readonly next: () => (() => Promise<void>) | undefined;
  /** Log message of a failure. */
  readonly complaint: string;
  /** Called after each piece, whether it succeeded or failed. */
  readonly ended?: () => void;
}

export class BackgroundRounds {
  private running: Promise<void> | undefined;
  private pause: NodeJS.Timeout | undefined;
  private failures = 0;
  private isStopped = false;

  constructor(private readonly options: BackgroundRoundsOptions) {}

  get stopped(): boolean {
    return this.isStopped;
  }

  /** Time until which nothing has to be done: 0 if a piece is in progress, Infinity if nothing is scheduled. */
  get restsUntilMs(): number {
    if (this.running !== undefined) return 0;
    return this.pause === undefined ? Infinity : nextTryMs(this.options.host);
  }

  /**
   * The piece in progress: resolves when it has ended in any way and the next one has begun. Undefined if there is
   * none, or it is to be retried later.
   */
  get underWay(): Promise<void> | undefined {
    return this.running;
  }

  /** Starts work if there is some. */
  look(): void {
    if (this.isStopped || this.running !== undefined || this.pause !== undefined) return;
    const { host, next, complaint, ended } = this.options;
    const work = next();
    if (work === undefined) return;
    this.running = work()
      .then(() => {
        this.failures = 0;
      })
      .catch((error: unknown) => {
        if (this.isStopped) return;
        host.log.warn({ list: host.listPath, err: error }, complaint);
        this.pause = setTimeout(() => {
          this.pause = undefined;
          this.look();
        }, this.nextPauseMs());
        this.pause.unref();
      })
      .finally(() => {
        this.running = undefined;
        ended?.();
        this.look();
      });
  }

  private nextPauseMs(): number {
    this.failures += 1;
    return Math.min(RETRY_PAUSE_MS_MAX, RETRY_PAUSE_MS * 2 ** (this.failures - 1));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    clearTimeout(this.pause);
    await this.running;
  }
}

/**
 * Time at which a closed list with failing work is opened to retry it, which happens at once then. Not the end of its
 * own pause: otherwise the many lists of a full disk would be opened every few seconds.
 */
export function nextTryMs({ clock }: Pick<BackgroundHost, 'clock'>): number {
  return clock.nowMs() + RETRY_PAUSE_MS_MAX;
}
