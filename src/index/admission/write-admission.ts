/**
 * The one place where a write is refused because there are too many: before it waits for anything. What was admitted is done,
 * however long others take; it is not refused again in the list's queue, between two batches of an import, or where its task
 * waits for a thread. Main thread only.
 */
import { ServiceError } from '../../platform/index.js';
import type { IngestExecutor } from '../contract/ingest-tasks.js';

/** Into one list at a time; each may hold batches in memory. */
const IMPORTS_MAX = 8;
const RETRY_AFTER_SECONDS = 1;
/** For so long after a small write another one is to be expected. */
const RECENT_MS = 10_000;

export interface WriteAdmissionOptions {
  /** Tasks of all lists that may wait for a thread when a write comes. Where there are so many, who has less than an equal part of them may still come. */
  readonly tasksWaitingMax: number;
  /** Whose they are is asked only where there are too many. */
  readonly tasks: Pick<IngestExecutor, 'waiting' | 'waitingByAccount'>;
  /** Small writes that may wait in one list. */
  readonly writesWaitingMax: number;
  /** The same by their size in memory. */
  readonly waitingBytesMax: number;
  /** A write was refused because too many tasks wait. */
  readonly onTooManyTasks: () => void;
  /** Time as it passes; a test may have another. */
  readonly nowMs?: () => number;
}

/** Of the service. */
export class WriteAdmission {
  constructor(private readonly options: WriteAdmissionOptions) {}

  /** Of one list of the account that is open. */
  forList(account: string): ListAdmission {
    return new ListAdmission(this.options, account);
  }
}

export class ListAdmission {
  private writes = 0;
  private writeBytes = 0;
  private imports = 0;
  private lastWriteMs = -Infinity;
  private readonly nowMs: () => number;

  constructor(
    private readonly options: WriteAdmissionOptions,
    private readonly account: string,
  ) {
    this.nowMs = options.nowMs ?? (() => performance.now());
  }

  /** True where there was a small write within the last ten seconds: what is begun should not hold up the next for long. */
  get expectsWrites(): boolean {
    return this.nowMs() - this.lastWriteMs < RECENT_MS;
  }

  /** A write of so many bytes waits from now on, until `writesTaken`. Throws `overloaded` where too many do already. */
  admitWrite(bytes: number): void {
    const { writesWaitingMax, waitingBytesMax } = this.options;
    this.lastWriteMs = this.nowMs();
    this.assertThreads();
    if (this.writes >= writesWaitingMax || this.writeBytes + bytes > waitingBytesMax) {
      throw overloaded('Too many writes to this list are waiting already; try again in a second.');
    }
    this.writes += 1;
    this.writeBytes += bytes;
  }

  writesTaken(writes: number, bytes: number): void {
    this.writes -= writes;
    this.writeBytes -= bytes;
  }

  /** An import is under way from now on, until `importEnded`. Throws `overloaded` where there are enough already. */
  admitImport(): void {
    this.assertThreads();
    if (this.imports >= IMPORTS_MAX) {
      throw overloaded(`${IMPORTS_MAX} imports into this list are under way; try again when one has ended.`);
    }
    this.imports += 1;
  }

  importEnded(): void {
    this.imports -= 1;
  }

  private assertThreads(): void {
    const {
      tasks: { waiting },
      tasksWaitingMax,
      onTooManyTasks,
    } = this.options;
    if (waiting < tasksWaitingMax || this.hasPartLeft()) return;
    onTooManyTasks();
    throw overloaded(`${waiting} tasks that write are waiting already; try again in a second.`);
  }

  /**
   * Of a queue that is full: who has filled it has more than an equal part. What was admitted is done, so nothing of it gives way; all together may
   * have `tasksWaitingMax` times 1 + 1/2 + 1/3 + … of as many accounts, six times of 256.
   */
  private hasPartLeft(): boolean {
    const { tasksWaitingMax, tasks } = this.options;
    const counts = tasks.waitingByAccount();
    const accounts = counts.size + (counts.has(this.account) ? 0 : 1);
    return (counts.get(this.account) ?? 0) < Math.floor(tasksWaitingMax / accounts);
  }
}

function overloaded(detail: string): ServiceError {
  return new ServiceError('overloaded', detail, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}
