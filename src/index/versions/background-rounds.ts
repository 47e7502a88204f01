/**
 * One piece of work of a list after the other, for as long as there is some: looked for after each commit and each piece; what fails is
 * told to the log and looked for again after a pause, which is longer each time. Main thread only.
 */
import type { BackgroundHost } from './background-host.js';

const RETRY_PAUSE_MS = 5000;
const RETRY_PAUSE_MS_MAX = 300_000;

export interface BackgroundRoundsOptions {
  readonly host: Pick<BackgroundHost, 'log' | 'listPath' | 'clock'>;
  /** What there is to do; undefined: nothing. */
  readonly next: () => (() => Promise<void>) | undefined;
  /** What is logged of a failure. */
  readonly complaint: string;
  /** After each piece, done or failed. */
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

  /** Until when nothing is done: 0 where a piece is under way, Infinity where nothing waits for its time. */
  get restsUntilMs(): number {
    if (this.running !== undefined) return 0;
    return this.pause === undefined ? Infinity : nextTryMs(this.options.host);
  }

  /** The piece that is under way: resolves, whatever becomes of it, when the next one has begun. Undefined also where it is tried again later. */
  get underWay(): Promise<void> | undefined {
    return this.running;
  }

  /** Begins what there is to do. */
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
 * When a list that is closed while something of it is tried again and again is opened for that, which tries at once: not when its own pause
 * ends, or the many lists of a full disk would be opened every few seconds.
 */
export function nextTryMs({ clock }: Pick<BackgroundHost, 'clock'>): number {
  return clock.nowMs() + RETRY_PAUSE_MS_MAX;
}
