/**
 * Lists that are closed because their store is damaged or could not be read; the latter are opened again automatically.
 * Main thread only.
 */
import type { Logger } from 'pino';
import type { SearchSettings } from '../contract/types.js';
import { mayBeReadAgain, type ServiceError } from '../../platform/index.js';
import { mapStoreAnew, type ListStore } from '../../store/index.js';
import { listFolder } from './list-folders.js';
import type { UnusableListReindexer } from '../reindex/unusable-list-reindexer.js';
import type { ListHandle } from './list-handle.js';
import { damaged } from './refusals.js';
import { UnreadableStores } from './unreadable-stores.js';

export interface DamagedListsOptions {
  readonly dataDir: string;
  readonly log: Logger;
  /** Removes the list from the open lists and those being opened; undefined if it is neither. */
  readonly letGo: (listId: string) => Promise<ListHandle> | undefined;
  /** A rebuild that failed, or is to fail, is begun again when the store of its list can be read again. */
  readonly rebuilds: Pick<UnusableListReindexer, 'storeMappedAnew'>;
}

export class DamagedLists {
  /** Errors with which requests for these lists are answered, by id. */
  private readonly refusals = new Map<string, ServiceError>();
  /** Stores of these lists, resolved when all work in them has ended. */
  private readonly ends = new Map<string, Promise<ListStore | undefined>>();
  readonly unreadable: UnreadableStores;

  constructor(private readonly options: DamagedListsOptions) {
    const { dataDir, log, rebuilds } = options;
    this.unreadable = new UnreadableStores({
      dataDir,
      log,
      mapAnew: async (listId) => {
        const end = this.ends.get(listId);
        const store = await end;
        // The list was deleted meanwhile; `forget` closes the store.
        if (this.ends.get(listId) !== end) return;
        if (store === undefined) mapStoreAnew(listFolder(dataDir, listId));
        else store.mapAnew();
        // Must precede the opening of the list.
        this.ends.delete(listId);
        await store?.close();
      },
      readable: (listId) => {
        this.refusals.delete(listId);
        rebuilds.storeMappedAnew(listId);
      },
    });
  }

  refusal(listId: string): ServiceError | undefined {
    return this.refusals.get(listId);
  }

  /**
   * As `ListIndexes.closeDamaged`. The store stays open so that it can be mapped again: the zeros in place of unread
   * pages would prevent opening it.
   */
  closeList(listId: string, { account, list }: SearchSettings, reason: unknown): ServiceError {
    const known = this.refusals.get(listId);
    if (known !== undefined) return known;
    const { log, letGo } = this.options;
    const refusal = damaged(listId, list, reason);
    this.refusals.set(listId, refusal);
    if (mayBeReadAgain(reason)) this.unreadable.met(listId);
    log.error(
      { err: reason, account, list, id: listId },
      'A list is damaged and was closed; all other lists keep working. It opens again by itself when the disk can be read; otherwise restore its folder from a backup, or delete it',
    );
    const end = letGo(listId)
      ?.then((handle) => handle.open?.closeAllBut(refusal))
      .catch((error: unknown) => {
        // A list that was never open has been refused with the same error.
        const message = 'A damaged list could not be closed as others are';
        if (error !== refusal) log.warn({ err: error, id: listId }, message);
        return undefined;
      });
    if (end !== undefined) this.ends.set(listId, end);
    return refusal;
  }

  /** Removes a list that is being deleted. Resolves when its store is closed. Never rejects. */
  async forget(listId: string): Promise<void> {
    this.unreadable.forget(listId);
    this.refusals.delete(listId);
    const end = this.ends.get(listId);
    this.ends.delete(listId);
    try {
      await (await end)?.close();
    } catch (error) {
      this.options.log.warn({ err: error, id: listId }, 'Could not close the store of a damaged list');
    }
  }

  /** Resolves when all stores are closed. Never rejects. */
  async close(): Promise<void> {
    this.unreadable.close();
    await Promise.all(Array.from(this.ends.keys(), (listId) => this.forget(listId)));
  }
}
