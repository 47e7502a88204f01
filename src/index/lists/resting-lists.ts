/**
 * Limits the number of open lists: before one is opened, the least recently used lists that have nothing to do are
 * closed. They are opened again when they are used or when work of theirs is due. Main thread only.
 */
import type { Logger } from 'pino';
import { resourcesExhausted, ServiceError, type Clock } from '../../platform/index.js';
import { keepOutline } from './kept-outline.js';
import type { ListHandle } from './list-handle.js';
import type { ListRoom } from './list-room.js';
import { OpenLists } from './open-lists.js';
import type { RestRegister } from './rest-register.js';

/**
 * Fraction of the open lists that is closed at a time when the process runs out of room; large, because counting what
 * is used takes long.
 */
const CLOSED_PART = 1 / 16;
/** Lists that are all busy may exceed the maximum, up to this factor plus this number. */
const BUSY_FACTOR = 2;
const BUSY_MORE = 64;
const SHRUNK_AFTER_MS = 1000;
/** The longest delay that a timer accepts. Opening a list too early does no harm. */
const TIMER_MS_MAX = 2 ** 31 - 1;

interface ClosedList {
  readonly handle: ListHandle;
  readonly isComplete: boolean;
  /** As returned by `ListHandle.rest`. */
  readonly outline: string;
}

export interface RestingListsOptions {
  readonly room: ListRoom;
  /** Maximum number of open lists, as far as they can be closed. */
  readonly openMax: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly register: RestRegister;
  /** Called before a list is closed. */
  readonly onRest: (handle: ListHandle) => void;
  /** Called when work of a list at rest is due. */
  readonly onDue: (handle: ListHandle) => void;
}

export class RestingLists {
  readonly open = new OpenLists();
  private readonly closing = new Map<string, Promise<void>>();
  private readonly due = new Map<string, NodeJS.Timeout>();
  private beingOpened = 0;
  private shrinking: NodeJS.Timeout | undefined;

  constructor(private readonly options: RestingListsOptions) {}

  /**
   * Opens a list when there is room for it. `take` reserves what it needs, and throws if the system has no room.
   * Rejects with `resources-exhausted` or `limit-reached` if all open lists are busy.
   */
  async withRoom<Result>(take: () => void, open: () => Promise<Result>): Promise<Result> {
    this.beingOpened += 1;
    try {
      await this.makeRoom();
      await this.taken(take);
      return await open();
    } finally {
      this.beingOpened -= 1;
      this.shrinkLater();
    }
  }

  /** Resolves when the list is no longer being closed, so that it can be opened. */
  async closed(listId: string): Promise<void> {
    await this.closing.get(listId);
  }

  /** Fingerprint of the store of a closed list; undefined if it is being closed, or was left with work to do. */
  print(listId: string): string | undefined {
    return this.closing.has(listId) ? undefined : this.options.register.print(listId);
  }

  opened(handle: ListHandle): void {
    this.open.add(handle);
    clearTimeout(this.due.get(handle.listId));
    this.due.delete(handle.listId);
  }

  /** Forgets a list that is deleted or must not be opened any more. */
  forget(listId: string): void {
    this.open.delete(listId);
    clearTimeout(this.due.get(listId));
    this.due.delete(listId);
    this.options.register.remove(listId);
  }

  /** Closes all lists, and registers those that have nothing left to do. Never rejects. */
  async close(reason: ServiceError): Promise<void> {
    for (const timer of [this.shrinking, ...this.due.values()]) clearTimeout(timer);
    const { register } = this.options;
    const lists = this.open.inOrder().map((handle) => {
      this.open.delete(handle.listId);
      const { open: index } = handle;
      return { handle, isComplete: index?.isComplete === true, outline: handle.rest(), closed: index?.close(reason) };
    });
    await Promise.allSettled([...lists.map(({ closed }) => closed), ...this.closing.values()]);
    await Promise.all(lists.map((each) => this.wasClosed(each)));
    await register.close();
  }

  /** Registers the list as resting. Never rejects. */
  private async wasClosed({ handle, isComplete, outline }: ClosedList): Promise<void> {
    const { register, log } = this.options;
    const { listId, listPath } = handle;
    const print = isComplete ? register.add(listId, handle.recordCount) : undefined;
    if (print === undefined) {
      register.remove(listId);
      return;
    }
    if (print === handle.keptFor) return;
    try {
      await keepOutline(listPath, { print, outline });
      handle.keptFor = print;
    } catch (error) {
      log.warn(
        { err: error, id: listId },
        'Could not save the state of a closed list; the next start opens the list instead',
      );
    }
  }

  private async makeRoom(): Promise<void> {
    const { openMax } = this.options;
    const tooMany = this.open.size + this.beingOpened - openMax;
    if (tooMany <= 0) return;
    await this.putToRest(tooMany);
    if (this.open.size > openMax * BUSY_FACTOR + BUSY_MORE) {
      throw resourcesExhausted(`${this.open.size.toLocaleString('en')} lists are open, and all have something to do`);
    }
  }

  /** Later closes lists that were busy when there were too many. */
  private shrinkLater(): void {
    if (this.open.size <= this.options.openMax || this.shrinking !== undefined) return;
    this.shrinking = setTimeout(() => {
      void this.putToRest(this.open.size - this.options.openMax).then(() => {
        this.shrinking = undefined;
        this.shrinkLater();
      });
    }, SHRUNK_AFTER_MS).unref();
  }

  private async taken(take: () => void): Promise<void> {
    for (;;) {
      try {
        take();
        return;
      } catch (error) {
        if ((await this.putToRest(Math.ceil(this.open.size * CLOSED_PART))) === 0) throw error;
        this.options.room.countAnew();
      }
    }
  }

  /** Resolves with the number of closed lists. */
  private async putToRest(count: number): Promise<number> {
    // In a later turn of the event loop, so that a caller that was just given a list has begun to use it.
    await new Promise<void>((resolve) => setImmediate(resolve));
    const closed: Promise<void>[] = [];
    while (closed.length < count) {
      const handle = this.open.longestUnused(this.options.clock.nowMs());
      if (handle === undefined) break;
      closed.push(this.rest(handle));
    }
    await Promise.all(closed);
    return closed.length;
  }

  private rest(handle: ListHandle): Promise<void> {
    const { clock, log, register, onRest } = this.options;
    const { listId, open: index } = handle;
    if (index === undefined) return Promise.resolve();
    const { isComplete, restsUntilMs } = index;
    const outline = handle.rest();
    this.open.delete(listId);
    onRest(handle);
    if (restsUntilMs !== Infinity) this.wakeIn(handle, restsUntilMs - clock.nowMs());
    const reason = new ServiceError('overloaded', 'The list was just closed; try again.', {
      retryAfterSeconds: 1,
    });
    const closing = index
      .close(reason)
      .then(() => this.wasClosed({ handle, isComplete, outline }))
      .catch((error: unknown) => {
        register.remove(listId);
        log.warn({ err: error, id: listId }, 'Could not close a list normally');
      })
      .finally(() => this.closing.delete(listId));
    this.closing.set(listId, closing);
    return closing;
  }

  private wakeIn(handle: ListHandle, waitMs: number): void {
    const timer = setTimeout(
      () => {
        this.due.delete(handle.listId);
        this.options.onDue(handle);
      },
      Math.min(Math.max(waitMs, 1), TIMER_MS_MAX),
    );
    this.due.set(handle.listId, timer.unref());
  }
}
