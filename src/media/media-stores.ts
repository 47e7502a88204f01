/**
 * The media stores of all accounts, each opened once. Every account has the built-in store `default`, which has no row.
 * Main thread only.
 */
import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import {
  assertAccount,
  CollectionStore,
  compositeKey,
  prefixOf,
  type Catalog,
  type Collection,
} from '../catalog/index.js';
import {
  assertDataThere,
  assertName,
  namesInShort,
  pageOf,
  ServiceError,
  serviceKey,
  syncFile,
  uuidv7,
  type Clock,
  type EventContent,
  type LmdbEnvironment,
  type Page,
  type WantedPage,
} from '../platform/index.js';
import { BlobFolder } from './built-in/blob-folder.js';
import { BuiltInStore } from './built-in/built-in-store.js';
import { FileTable } from './built-in/file-table.js';
import type { FileEvents, MediaStore, StoredFile, StoreUsage } from './media-store.js';
import type { MediaAction, MediaMetrics } from './media-metrics.js';
import type { MediaSettings } from './settings.js';
import { DEFAULT_STORE, type StoreRow, type StoreSettings } from './types.js';
import { APART } from './media-path.js';
import { MEDIA_STORE_NOT_FOUND, STORE_IN_USE, STORE_UNAVAILABLE } from './media-problems.js';

/** Key by which operations and other features find the stores. */
export const MEDIA_STORES = serviceKey<MediaStores>('media-stores');

/** Returns what uses a store of an account, such as `list films` or `feed news`. */
export type StoreUser = (account: string, store: string) => readonly string[];

/** Called for each file that was put, replaced or removed. */
export type FileListener = (account: string, store: string, path: string) => void;

/** Opens a store from its row. `below` names folders in it, of which the last is the store. */
export type StoreOpener = (row: StoreRow, events: FileEvents, below?: readonly string[]) => MediaStore;

export interface MediaStoresOptions {
  readonly settings: MediaSettings;
  readonly dataDir: string;
  readonly environment: LmdbEnvironment;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: Logger;
  readonly opener: StoreOpener;
  readonly metrics: MediaMetrics;
  /** Rejects with `plan-limit` if the account may not grow. */
  readonly assertMayGrow: (account: string) => Promise<void>;
}

export class MediaStores {
  private readonly store: CollectionStore;
  private readonly rows: Collection<StoreRow>;
  private readonly table: FileTable;
  private readonly builtIns = new Map<string, BuiltInStore>();
  private readonly others = new Map<StoreRow, MediaStore>();
  private readonly users: StoreUser[] = [];
  private readonly listeners: FileListener[] = [];
  private recovering: Promise<void> | undefined;
  private readonly closing = new AbortController();

  constructor(private readonly options: MediaStoresOptions) {
    this.store = CollectionStore.of(options.environment);
    this.rows = this.store.collection('media-stores');
    this.table = new FileTable(options.environment, this.store);
    // Each upload and removal in flight listens to the signal.
    setMaxListeners(0, this.closing.signal);
  }

  /** Registers a user of stores. A used store cannot be deleted. */
  usedBy(user: StoreUser): void {
    this.users.push(user);
  }

  /** Registers a listener for each change of a file by this service, called after the change. */
  onChange(listener: FileListener): void {
    this.listeners.push(listener);
  }

  private changed(account: string, store: string, path: string): void {
    for (const listener of this.listeners) listener(account, store, path);
  }

  /** Returns the stores besides `default`, sorted by name. */
  of(account: string): readonly StoreRow[] {
    return [...this.rows.from(prefixOf(account))];
  }

  /** Returns a page of stores: `default` first, as undefined, then the others by name. The cursor is the name. */
  page(account: string, { after, size }: WantedPage): Page<StoreRow | undefined> {
    const first = after === undefined ? [undefined] : [];
    // No row has the name of the built-in store.
    const rows = this.rows.from(prefixOf(account), after === DEFAULT_STORE ? undefined : after);
    return pageOf(joined(first, rows), (row) => row?.name ?? DEFAULT_STORE, size);
  }

  all(): readonly StoreRow[] {
    return [...this.rows.values()];
  }

  /** Undefined for `default`. Throws `media-store-not-found`. */
  row(account: string, name: string): StoreRow | undefined {
    if (name === DEFAULT_STORE) return undefined;
    const row = this.rows.get(compositeKey(account, name));
    if (row !== undefined) return row;
    assertName('media store', name);
    const names = () => [DEFAULT_STORE, ...this.of(account).map((store) => store.name)];
    throw new ServiceError(MEDIA_STORE_NOT_FOUND, `The account '${account}' has no media store '${name}'.`, {
      meant: { given: name, permission: 'media-store:read', names },
    });
  }

  /** Throws `media-store-not-found`. */
  open(account: string, name: string): MediaStore {
    const row = this.row(account, name);
    if (row === undefined) return this.builtIn(account);
    let opened = this.others.get(row);
    if (opened === undefined) {
      opened = this.options.opener(row, this.eventsOf(row));
      this.others.set(row, opened);
    }
    return opened;
  }

  /**
   * Returns a store for the service's own files in a media store, below the folders of a path ('' for none). No request
   * reaches it, no listing shows it, and no events are emitted. Undefined for the built-in store. Throws
   * `media-store-not-found`.
   */
  apart(account: string, name: string, path: string): MediaStore | undefined {
    const row = this.row(account, name);
    if (row === undefined) return undefined;
    const silent: FileEvents = { uploaded: () => undefined, deleted: () => undefined };
    return this.options.opener(row, silent, [...path.split('/').filter((part) => part !== ''), APART]);
  }

  /** Runs an action and counts its outcome. */
  measured<Result>(action: MediaAction, run: () => Promise<Result>): Promise<Result> {
    return this.options.metrics.measured(action, run);
  }

  /** Returns the usage; all null if the store cannot be reached. `row` is undefined for the built-in store. */
  async usage(account: string, row: StoreRow | undefined): Promise<StoreUsage> {
    try {
      return await this.open(account, row?.name ?? DEFAULT_STORE).usage();
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== STORE_UNAVAILABLE.code) throw error;
      return { bytesUsed: null, bytesMax: null, fileCount: null };
    }
  }

  /** Returns the usage of all built-in stores. */
  used(): { readonly bytes: number; readonly files: number } {
    let [bytes, files] = [0, 0];
    for (const { name } of this.options.catalog.accounts()) {
      const [ofAccount, count] = this.builtInUsage(name);
      bytes += ofAccount;
      files += count;
    }
    return { bytes, files };
  }

  /** Returns bytes and files of the account's built-in store. */
  builtInUsage(account: string): readonly [bytes: number, files: number] {
    return this.table.usage(`${account}/${DEFAULT_STORE}`);
  }

  builtIn(account: string): BuiltInStore {
    const known = this.builtIns.get(account);
    if (known !== undefined) return known;
    const { settings, dataDir, clock } = this.options;
    const opened = new BuiltInStore({
      id: `${account}/${DEFAULT_STORE}`,
      table: this.table,
      blobs: new BlobFolder(join(dataDir, 'media', account, DEFAULT_STORE), () => assertDataThere(dataDir)),
      limits: { bytesMax: settings.default_store_bytes_max, filesMax: settings.default_store_files_max },
      clock,
      closing: this.closing.signal,
      assertWanted: () => {
        if (this.options.catalog.account(account) !== undefined) return;
        throw new ServiceError('account-not-found', `There is no account '${account}'.`);
      },
      assertMayGrow: () => this.options.assertMayGrow(account),
      told: (change, kind, file) => change.emit(account, fileEvent(kind, DEFAULT_STORE, file)),
      changed: ({ path }) => this.changed(account, DEFAULT_STORE, path),
      untidy: (error) => {
        this.options.log.error(
          { err: error, account },
          'A content of a media store lies where it should not until the next start',
        );
      },
    });
    this.builtIns.set(account, opened);
    return opened;
  }

  /** Rejects with `name-exists`, `conflict` if the account has too many, or what `settings` throws. */
  create(account: string, name: string, settings: (id: string) => StoreSettings): Promise<StoreRow> {
    const { clock, settings: limits } = this.options;
    assertName('media store', name);
    return this.store.change((change) => {
      assertAccount(this.store, account);
      if (name === DEFAULT_STORE || this.rows.has(compositeKey(account, name))) {
        throw new ServiceError('name-exists', `The account already has a media store '${name}'.`);
      }
      if (this.of(account).length >= limits.stores_max) {
        throw new ServiceError(
          'conflict',
          `The account already has ${limits.stores_max} media stores, the most that it can have: remove one first.`,
        );
      }
      const id = uuidv7();
      const now = clock.nowIso();
      const row = { id, account, name, settings: settings(id), created_utc: now, modified_utc: now };
      change.put(this.rows, compositeKey(account, name), row);
      change.emit(account, storeEvent('created', row));
      return row;
    });
  }

  /** Rejects with `media-store-not-found`, or what `settings` throws. */
  async update(account: string, name: string, settings: (before: StoreRow) => StoreSettings): Promise<StoreRow> {
    const before = this.required(account, name);
    const row = await this.store.change((change) => {
      const current = this.required(account, name);
      const next = { ...current, settings: settings(current), modified_utc: this.options.clock.nowIso() };
      change.put(this.rows, compositeKey(account, name), next);
      return next;
    });
    this.others.delete(before);
    return row;
  }

  /** Deletes the store's row; its files stay. Rejects with `media-store-not-found` or `store-in-use`. */
  async delete(account: string, name: string): Promise<void> {
    const row = this.required(account, name);
    await this.store.change((change) => {
      this.required(account, name);
      const users = this.users.flatMap((user) => user(account, name));
      if (users.length > 0) {
        throw new ServiceError(STORE_IN_USE, `The media store '${name}' is used by ${namesInShort(users)}.`);
      }
      change.remove(this.rows, compositeKey(account, name));
      change.emit(account, storeEvent('deleted', row));
    });
    this.others.delete(row);
  }

  /** Removes the stores of a deleted account, and the files of its built-in one. */
  async forget(account: string): Promise<void> {
    const removed = await this.store.change((change) => {
      const rows = this.of(account);
      for (const { name } of rows) change.remove(this.rows, compositeKey(account, name));
      return rows;
    });
    for (const row of removed) this.others.delete(row);
    this.builtIns.delete(account);
    await this.table.forget(`${account}/${DEFAULT_STORE}`);
    const folder = join(this.options.dataDir, 'media');
    await rm(join(folder, account), { recursive: true, force: true });
    // Otherwise a power failure could bring the folder back, unknown to everybody.
    if (existsSync(folder)) await syncFile(folder);
  }

  /** Replaces stored settings by equivalent ones, for secrets whose key changes. Resolves with the number replaced. */
  async reseal(next: (row: StoreRow) => StoreSettings | undefined): Promise<number> {
    const resealed = await this.store.change((change) => {
      const replaced = new Map<StoreRow, StoreRow>();
      for (const before of this.rows.values()) {
        const settings = next(before);
        if (settings === undefined) continue;
        const row = { ...before, settings };
        change.put(this.rows, compositeKey(row.account, row.name), row);
        replaced.set(before, row);
      }
      return replaced;
    });
    for (const [before, row] of resealed) {
      const opened = this.others.get(before);
      this.others.delete(before);
      if (opened !== undefined) this.others.set(row, opened);
    }
    return resealed.size;
  }

  /** Repairs what a crash left in the built-in stores. */
  recover(): Promise<void> {
    return (this.recovering = this.recoverAll());
  }

  /** Resolves when `recover` has stopped; the next start does the rest. */
  async close(): Promise<void> {
    this.closing.abort();
    await this.recovering;
  }

  private async recoverAll(): Promise<void> {
    const { catalog, log } = this.options;
    for (const { name } of catalog.accounts()) {
      if (this.closing.signal.aborted) return;
      try {
        await this.builtIn(name).recover();
      } catch (error) {
        log.error(
          { err: error, account: name },
          'Could not clean up after a crash in the media store of an account yet',
        );
      }
    }
  }

  /** Throws `media-store-not-found`, or `unprocessable` for the built-in store. */
  private required(account: string, name: string): StoreRow {
    const row = this.row(account, name);
    if (row !== undefined) return row;
    throw new ServiceError(
      'unprocessable',
      `The media store '${DEFAULT_STORE}' is built in: it cannot be changed or removed.`,
    );
  }

  /** Returns the events of stores without transactions, emitted in a separate transaction. */
  private eventsOf({ account, name }: StoreRow): FileEvents {
    const tell = (content: EventContent): void => {
      const told = this.store.change((change) => {
        change.emit(account, content);
      });
      told.catch((error: unknown) => {
        this.options.log.error(
          { err: error, account, type: content.type },
          'Webhooks are not notified of a change in a media store',
        );
      });
    };
    return {
      uploaded: (file) => {
        tell(fileEvent('uploaded', name, file));
        this.changed(account, name, file.path);
      },
      deleted: (file) => {
        tell(fileEvent('deleted', name, file));
        this.changed(account, name, file.path);
      },
    };
  }
}

function* joined<Entry>(first: Iterable<Entry>, others: Iterable<Entry>): Generator<Entry> {
  yield* first;
  yield* others;
}

function fileEvent(
  kind: 'uploaded' | 'deleted',
  store: string,
  { path, bytes, contentType }: StoredFile,
): EventContent {
  return {
    type: `media.${kind}`,
    id: `${store}/${path}`,
    list: '',
    data: { store, path, bytes, content_type: contentType },
  };
}

function storeEvent(kind: 'created' | 'deleted', { name, settings }: StoreRow): EventContent {
  return { type: `media-store.${kind}`, id: name, list: '', data: { name, kind: settings.kind } };
}
