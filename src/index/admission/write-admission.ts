/**
 * The only place that refuses a write because too many are waiting; it does so before the write waits for anything. An
 * admitted write is carried out, however long others take: it is not refused again in the list's queue, between two
 * batches of an import, or when its task waits for a thread. Main thread only.
 */
import { ServiceError } from '../../platform/index.js';
import type { IngestExecutor } from '../contract/ingest-tasks.js';

/** Concurrent imports into one list; each may hold batches in memory. */
const IMPORTS_MAX = 8;
const RETRY_AFTER_SECONDS = 1;
/** Time after a small write during which another one is expected. */
const RECENT_MS = 10_000;

export interface WriteAdmissionOptions {
  /**
   * Number of tasks of all lists that may wait for a thread when a write arrives. Beyond it, an account is still
   * admitted if it has less than an equal share of the queue.
   */
  readonly tasksWaitingMax: number;
  /** Waiting tasks. Those of each account are counted only if there are too many. */
  readonly tasks: Pick<IngestExecutor, 'waiting' | 'waitingByAccount'>;
  /** Number of small writes that may wait in one list. */
  readonly writesWaitingMax: number;
  /** Size in memory of the small writes that may wait in one list. */
  readonly waitingBytesMax: number;
  /** Called when a write is refused because too many tasks wait. */
  readonly onTooManyTasks: () => void;
  /** Monotonic clock; tests may pass another. */
  readonly nowMs?: () => number;
}

/** Admits writes of the whole service. */
export class WriteAdmission {
  constructor(private readonly options: WriteAdmissionOptions) {}

  /** Returns the admission of one open list of the account. */
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

  /**
   * True if there was a small write within the last ten seconds: work that starts now should not delay the next one for
   * long.
   */
  get expectsWrites(): boolean {
    return this.nowMs() - this.lastWriteMs < RECENT_MS;
  }

  /**
   * Admits a write of that many bytes, which counts as waiting until `writesTaken`. Throws `overloaded` if too many are
   * waiting.
   */
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

  /** Admits an import, which counts until `importEnded`. Throws `overloaded` if too many are under way. */
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
   * True if the account has less than an equal share of a full queue, so that an account that filled the queue cannot
   * lock out others. Admitted tasks are carried out, so the queue grows: all accounts together may have
   * `tasksWaitingMax` × (1 + 1/2 + 1/3 + …) tasks, which is six times as many for 256 accounts.
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
