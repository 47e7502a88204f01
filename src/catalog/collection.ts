/**
 * Small collections of entries that are kept entirely in memory and written through to the `system` LMDB environment.
 *
 * Invariants: memory never shows what is not on disk. Changes run one after the other, each as one LMDB transaction
 * over any number of collections; a change that fails changes nothing. Lookups are synchronous. Main thread only: the
 * environment has no other writer.
 *
 * A feature that needs its own collection opens it by `store.collection<Feed>('feeds')`, and removes the entries of a
 * deleted account or list by `forget` (`OpenFeature`).
 */
import type { Database } from 'lmdb';
import {
  asOutboxEvent,
  FIRST_OUTBOX_ROW,
  noEventSink,
  isDamage,
  isUnreadable,
  Outbox,
  OUTBOX_DATABASE,
  ServiceError,
  systemClock,
  type Clock,
  type EventContent,
  OrderedKeys,
  type EventSink,
  type LmdbEnvironment,
  type OutboxEvent,
  type OutboxSource,
} from '../platform/index.js';
import { GroupsOfEntries, type GroupedBy } from './groups-of-entries.js';

const UNREADABLE =
  'The catalogue cannot be read from the disk: nothing was changed. Searches are served on; accounts, keys, lists and settings can be changed again when ' +
  'the disk can be read, which is tried again by itself. The log of the service says more.';
/** Keys are names and ids; composite keys are joined by a character that no name contains. */
const KEY_SEPARATOR = '/';

/** Returns a key of two parts, ordered by the first, then the second. */
export function compositeKey(first: string, second: string): string {
  return prefixOf(first) + second;
}

/** Returns the prefix of the keys with this first part. */
export function prefixOf(first: string): string {
  return first + KEY_SEPARATOR;
}

export interface Collection<T> {
  readonly name: string;
  get(key: string): T | undefined;
  has(key: string): boolean;
  /** In order of insertion since the start; entries that existed at the start come first, in the order of keys. */
  values(): IterableIterator<T>;
  readonly size: number;
  /**
   * Entries whose key has the prefix and comes after `prefix + after`, in the order of keys. The collection must not
   * change meanwhile.
   */
  from(prefix: string, after?: string): IterableIterator<T>;
  /**
   * Returns an index over another unique property of the entries, such as an id, which is updated with every change.
   * Create it once.
   */
  lookUpBy(own: (value: T) => string): (wanted: string) => T | undefined;
  /**
   * Returns an index over a property that many entries share, such as their account, which is updated with every
   * change. Create it once.
   */
  groupBy(shared: (value: T) => string): GroupedBy<T>;
  /** Notifies the follower of every change that is on disk, with the entry before and after; undefined: none. */
  follow(follower: Follower<T>): void;
}

export interface Follower<T> {
  changed(before: T | undefined, after: T | undefined): void;
}

/** Operations of one change; they may be called only while the function given to `change` runs. */
export interface Change {
  /** Returns the value as it is stored. */
  put<T>(collection: Collection<T>, key: string, value: T): T;
  remove<T>(collection: Collection<T>, key: string): void;
  /**
   * Runs the action in the transaction of this change, in the order of its writes: for databases that are not kept in
   * memory. It may emit events; if it throws, the change is undone.
   */
  within(action: () => void): void;
  /**
   * Adds an event for webhooks of the account. It is written with the change if somebody listens, and delivered when
   * that is on disk.
   */
  emit(account: string, event: EventContent): void;
}

/** Receives the events of a store. */
export interface StoreListener {
  readonly sink: EventSink;
  readonly source: OutboxSource;
  readonly clock: Clock;
}

interface StagedWrite {
  readonly collection: StoredCollection<unknown>;
  readonly key: string;
  /** Undefined if the entry is removed. */
  readonly value: unknown;
}

interface OtherKey<T> {
  own(value: T): string;
  readonly entries: Map<string, T>;
}

class StoredCollection<T> implements Collection<T> {
  readonly #entries = new Map<string, T>();
  readonly #keys: OrderedKeys;
  readonly #others: OtherKey<T>[] = [];
  readonly #groups: GroupsOfEntries<T>[] = [];
  readonly #followers: Follower<T>[] = [];

  constructor(
    readonly name: string,
    readonly database: Database<T, string>,
  ) {
    for (const { key, value } of database.getRange()) this.#entries.set(key, deepFreeze(value));
    this.#keys = new OrderedKeys(this.#entries.keys());
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): T | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  values(): IterableIterator<T> {
    return this.#entries.values();
  }

  *from(prefix: string, after?: string): Generator<T> {
    for (const key of this.#keys.from(prefix, after)) yield this.#entries.get(key) as T;
  }

  lookUpBy(own: (value: T) => string): (wanted: string) => T | undefined {
    const entries = new Map([...this.#entries.values()].map((value) => [own(value), value]));
    this.#others.push({ own, entries });
    return (wanted) => entries.get(wanted);
  }

  groupBy(shared: (value: T) => string): GroupedBy<T> {
    const groups = new GroupsOfEntries<T>({ groupOf: shared, entries: this.#entries });
    this.#groups.push(groups);
    return groups;
  }

  follow(follower: Follower<T>): void {
    this.#followers.push(follower);
  }

  /** Applies a change that is on disk. Undefined: removes the entry. */
  set(key: string, value: T | undefined): void {
    const before = this.#entries.get(key);
    for (const follower of this.#followers) follower.changed(before, value);
    for (const groups of this.#groups) groups.changes(key, before, value);
    for (const other of this.#others) {
      // The entry may already be stored under another key.
      if (before !== undefined && other.entries.get(other.own(before)) === before)
        other.entries.delete(other.own(before));
      if (value !== undefined) other.entries.set(other.own(value), value);
    }
    if (value === undefined) {
      this.#entries.delete(key);
      this.#keys.remove(key);
    } else {
      this.#entries.set(key, value);
      this.#keys.add(key);
    }
  }
}

/** Number of the next row of the outbox. Kept on disk, because numbers are never reused. */
const OUTBOX_STATE_DATABASE = 'outbox-state';
const NEXT_ROW = 'next';

const stores = new WeakMap<LmdbEnvironment, CollectionStore>();

export class CollectionStore {
  readonly #environment: LmdbEnvironment;
  readonly #collections = new Map<string, StoredCollection<unknown>>();
  readonly #outbox: Outbox;
  readonly #outboxState: Database<number, string>;
  #listener: StoreListener = { sink: noEventSink, source: { id: '', kind: 'system', path: '' }, clock: systemClock };
  #lastChange: Promise<unknown> = Promise.resolve();

  private constructor(environment: LmdbEnvironment) {
    this.#environment = environment;
    this.#outbox = new Outbox(environment.database(OUTBOX_DATABASE));
    this.#outboxState = environment.database(OUTBOX_STATE_DATABASE);
  }

  /** Sets the listener for events; before that, nobody listens. */
  listen(listener: StoreListener): void {
    this.#listener = listener;
  }

  /** Returns the one store of an environment, shared by all code that keeps something in it. */
  static of(environment: LmdbEnvironment): CollectionStore {
    const store = stores.get(environment) ?? new CollectionStore(environment);
    stores.set(environment, store);
    return store;
  }

  /** Opens the collection, reading all of it. */
  collection<T>(name: string): Collection<T> {
    const known = this.#collections.get(name);
    if (known !== undefined) return known as unknown as Collection<T>;
    const opened = new StoredCollection<T>(name, this.#environment.database<T, string>(name));
    this.#collections.set(name, opened);
    return opened;
  }

  /**
   * Calls `decide` when all earlier changes are done, so that it can check the current entries and throw. Then writes
   * what it staged in one transaction, and resolves with its result when that is on disk and in memory. Rejects with
   * what `decide` threw, or with the failure of the transaction; nothing has changed then.
   */
  change<Result>(decide: (change: Change) => Result): Promise<Result> {
    const result = this.#lastChange.then(() => this.#run(decide));
    this.#lastChange = result.catch(() => undefined);
    return result;
  }

  async #committed(action: () => void): Promise<void> {
    try {
      await this.#environment.transaction(action);
    } catch (error) {
      if (!isDamage(error) && !isUnreadable(error)) throw error;
      throw new ServiceError('storage-damaged', UNREADABLE, { cause: error });
    }
  }

  async #run<Result>(decide: (change: Change) => Result): Promise<Result> {
    const writes: StagedWrite[] = [];
    const steps: (() => void)[] = [];
    const events: OutboxEvent[] = [];
    const { sink, source, clock } = this.#listener;
    const nowMs = clock.nowMs();
    const stage = (collection: Collection<unknown>, key: string, value: unknown): void => {
      const { database } = collection as StoredCollection<unknown>;
      writes.push({ collection: collection as StoredCollection<unknown>, key, value });
      steps.push(() => void (value === undefined ? database.removeSync(key) : database.putSync(key, value)));
    };
    const result = decide({
      put: (collection, key, value) => {
        const stored = deepFreeze(wellFormed(value));
        stage(collection, key, stored);
        return stored;
      },
      remove: (collection, key) => stage(collection, key, undefined),
      within: (action) => {
        steps.push(action);
      },
      emit: (account, event) => {
        if (sink.wanted(account).includes(event.type))
          events.push(asOutboxEvent(account, event, sink.eventTime(account, nowMs)));
      },
    });
    if (steps.length === 0 && events.length === 0) return result;
    await this.#committed(() => {
      for (const step of steps) step();
      if (events.length > 0) this.#appendToOutbox(events, sink.removableTo(source.id));
    });
    for (const { collection, key, value } of writes) collection.set(key, value);
    if (events.length > 0) sink.written(source, events.length);
    return result;
  }

  /** Removes some of the outbox rows that are no longer needed, as each change does too. */
  removeToldRows(): Promise<void> {
    const { sink, source } = this.#listener;
    const removed = this.#lastChange.then(() =>
      this.#environment.transaction(() => {
        this.#outbox.removeMoved(sink.removableTo(source.id));
      }),
    );
    this.#lastChange = removed.catch(() => undefined);
    return removed;
  }

  /** Call it inside the transaction. */
  #appendToOutbox(events: readonly OutboxEvent[], removableTo: number): void {
    const next = this.#outbox.append(this.#outboxState.get(NEXT_ROW) ?? FIRST_OUTBOX_ROW, events);
    void this.#outboxState.putSync(NEXT_ROW, next);
    this.#outbox.removeMoved(removableTo);
  }
}

/** Entries are returned by reference: freezing prevents callers from changing memory without the disk. */
function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) deepFreeze(member);
  return Object.freeze(value);
}

/**
 * Returns the value with U+FFFD for halves of surrogate pairs, as in records, also in the names of its members: UTF-8
 * has none, and the disk would have other texts than memory.
 */
function wellFormed<T>(value: T): T {
  return hasHalves(value) ? (replaced(value) as T) : value;
}

function hasHalves(value: unknown): boolean {
  if (typeof value === 'string') return !value.isWellFormed();
  if (typeof value !== 'object' || value === null) return false;
  return (!Array.isArray(value) && Object.keys(value).some(hasHalves)) || Object.values(value).some(hasHalves);
}

function replaced(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(replaced);
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name.toWellFormed(), replaced(member)]));
}
