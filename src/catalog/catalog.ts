/** The catalogue in the `system` environment; `Catalog` documents its guarantees. */
import { isDeepStrictEqual } from 'node:util';
import {
  assertName,
  pageOf,
  ServiceError,
  uuidv7,
  type Clock,
  type LmdbEnvironment,
  type Page,
  type WantedPage,
} from '../platform/index.js';
import { assertAccount } from './account-assertion.js';
import { CatalogRoom } from './catalog-room.js';
import { CollectionStore, compositeKey, prefixOf, type Change, type Collection } from './collection.js';
import { groupEvent, listCreatedEvent, listDeletedEvent, listUpdatedEvent } from './catalog-events.js';
import { DepartedLists, groupsOfStep, withoutList } from './departed-lists.js';
import { nextGroupVersion, sameMembers, withListIds } from './group-versions.js';
import type {
  AccountRecord,
  AdoptedEntries,
  Catalog,
  FieldDefinition,
  GroupMember,
  GroupRecord,
  GroupSettings,
  ListChange,
  ListQuota,
  ListRecord,
  NewList,
  UnfinishedWork,
} from './types.js';

export interface CatalogOptions {
  /** Names that no new account can have. */
  readonly reservedNames?: ReadonlySet<string>;
  /** Maximum memory for the entries of lists and groups. Default: unlimited. */
  readonly bytesMax?: number;
}

/** Reads the whole catalogue into memory. Writes only if data of an earlier release has to be upgraded. */
export async function openCatalog(
  environment: LmdbEnvironment,
  clock: Clock,
  { reservedNames = new Set(), bytesMax = Infinity }: CatalogOptions = {},
): Promise<Catalog> {
  const catalog = new StoredCatalog(CollectionStore.of(environment), clock, { reservedNames, bytesMax });
  await catalog.bindMembers();
  return catalog;
}

class StoredCatalog implements Catalog {
  readonly #store: CollectionStore;
  readonly #clock: Clock;
  readonly #reservedNames: ReadonlySet<string>;
  readonly #accounts: Collection<AccountRecord>;
  readonly #lists: Collection<ListRecord>;
  readonly #listById: (id: string) => ListRecord | undefined;
  readonly #groups: Collection<GroupRecord>;
  readonly #unfinished: Collection<UnfinishedWork>;
  readonly #departed: DepartedLists;
  readonly #room: CatalogRoom;
  #quota: ListQuota | undefined;

  constructor(store: CollectionStore, clock: Clock, { reservedNames, bytesMax }: Required<CatalogOptions>) {
    this.#store = store;
    this.#clock = clock;
    this.#reservedNames = reservedNames;
    this.#accounts = store.collection('accounts');
    this.#lists = store.collection('lists');
    this.#listById = this.#lists.lookUpBy(({ id }) => id);
    this.#groups = store.collection('groups');
    this.#unfinished = store.collection('unfinished');
    this.#departed = DepartedLists.of(this.#unfinished);
    this.#room = new CatalogRoom(bytesMax);
    this.#room.count(this.#lists);
    this.#room.count(this.#groups);
  }

  /** Upgrades groups of earlier releases, which identify members by name only. */
  async bindMembers(): Promise<void> {
    const stale = [...this.#groups.values()].filter(({ versions }) =>
      versions.some(({ lists }) => lists.some(({ list_id }) => (list_id as unknown) === undefined)),
    );
    if (stale.length === 0) return;
    await this.#store.change((change) => {
      for (const group of stale) {
        const bound = withListIds(group, (name) => this.list(group.account, name));
        change.put(this.#groups, compositeKey(group.account, group.name), bound);
      }
    });
  }

  useQuota(quota: ListQuota): void {
    this.#quota = quota;
  }

  accounts(): readonly AccountRecord[] {
    return inOrderOfNames(this.#accounts.values());
  }

  accountPage({ after, size }: WantedPage): Page<AccountRecord> {
    return pageOf(this.#accounts.from('', after), ({ name }) => name, size);
  }

  account(name: string): AccountRecord | undefined {
    return this.#accounts.get(name);
  }

  createAccount(name: string, region: string): Promise<AccountRecord> {
    return this.#store.change((change) => this.addAccount(change, name, region));
  }

  addAccount(change: Change, name: string, region: string): AccountRecord {
    assertName('account', name);
    if (this.#reservedNames.has(name)) throw reservedName(name);
    if (this.#accounts.has(name)) throw nameExists('account', name);
    if (this.#isBeingRemoved(name)) {
      throw new ServiceError(
        'conflict',
        `The data of a deleted account '${name}' is still being removed. Try again later.`,
      );
    }
    const account: AccountRecord = { name, region, created_utc: this.#clock.nowIso() };
    change.put(this.#accounts, name, account);
    return account;
  }

  get isFull(): boolean {
    return this.#room.isFull;
  }

  isAccountNameFree(name: string): boolean {
    return !this.#reservedNames.has(name) && !this.#accounts.has(name) && !this.#isBeingRemoved(name);
  }

  #isBeingRemoved(account: string): boolean {
    return this.unfinished().some((work) => work.subject === 'account' && work.account === account);
  }

  deleteAccount(name: string): Promise<readonly UnfinishedWork[]> {
    return this.#store.change((change) => {
      assertAccount(this.#store, name);
      const { created_utc } = this.#accounts.get(name) as AccountRecord;
      change.remove(this.#accounts, name);
      const groups = this.groups(name).map((group) => {
        change.remove(this.#groups, compositeKey(name, group.name));
        return { subject: 'group', id: group.created_utc, name: group.name } as const;
      });
      const lists = this.lists(name).map((list) => {
        change.remove(this.#lists, compositeKey(name, list.name));
        return { subject: 'list', id: list.id, name: list.name } as const;
      });
      const own = { subject: 'account', id: created_utc, name } as const;
      return [...groups, ...lists, own].map((work) =>
        this.#begin(change, { kind: 'removing', account: name, ...work }),
      );
    });
  }

  lists(account: string): readonly ListRecord[] {
    return [...this.#lists.from(prefixOf(account))];
  }

  listPage(account: string, { after, size }: WantedPage): Page<ListRecord> {
    return pageOf(this.#lists.from(prefixOf(account), after), ({ name }) => name, size);
  }

  list(account: string, name: string): ListRecord | undefined {
    return this.#lists.get(compositeKey(account, name));
  }

  beginList({ id, account, name }: Pick<ListRecord, 'id' | 'account' | 'name'>): Promise<UnfinishedWork> {
    return this.#store.change((change) => this.#begin(change, { kind: 'making', subject: 'list', id, account, name }));
  }

  listOfId(id: string): ListRecord | undefined {
    return this.#listById(id);
  }

  createList(list: NewList, fields?: FieldDefinition): Promise<ListRecord> {
    return this.#store.change((change) => {
      const { account, name } = list;
      assertName('list', name);
      assertAccount(this.#store, account);
      if (this.list(account, name) !== undefined) {
        throw new ServiceError('name-exists', `There is already a list '${name}' in the account '${account}'.`);
      }
      this.#quota?.admitList(change, account, () => this.lists(account).length);
      const now = this.#clock.nowIso();
      const record: ListRecord = { ...list, id: list.id ?? uuidv7(), created_utc: now, modified_utc: now };
      this.#room.admit(undefined, record);
      change.put(this.#lists, compositeKey(account, name), record);
      change.remove(this.#unfinished, unfinishedKey({ kind: 'making', subject: 'list', ...record }));
      change.emit(account, listCreatedEvent(record, fields));
      return record;
    });
  }

  updateList(account: string, name: string, members: ListChange): Promise<ListRecord> {
    return this.#store.change((change) => {
      const before = this.#requiredList(account, name);
      const record: ListRecord = { ...before, ...members, modified_utc: this.#clock.nowIso() };
      this.#room.admit(before, record);
      change.put(this.#lists, compositeKey(account, name), record);
      const event = listUpdatedEvent(before, record);
      if (event !== undefined) change.emit(account, event);
      return record;
    });
  }

  deleteList(
    account: string,
    name: string,
    assertWanted: (list: ListRecord) => void = () => undefined,
  ): Promise<readonly UnfinishedWork[]> {
    return this.#store.change((change) => {
      const list = this.#requiredList(account, name);
      assertWanted(list);
      const { id } = list;
      change.remove(this.#lists, compositeKey(account, name));
      change.emit(account, listDeletedEvent(name));
      const work = { subject: 'list', id, account, name } as const;
      const leaving: UnfinishedWork = { kind: 'leaving', ...work, since_utc: this.#clock.nowIso() };
      const { some, last } = groupsOfStep(this.#groups.from(prefixOf(account)), (group) => withoutList(group, leaving));
      // If thousands of groups have the list, later changes write some of them each, because each group is written
      // whole, with all its versions. Lists that were deleted before leave a group first, because readers
      // have seen those versions already.
      if (last === undefined)
        for (const group of some) this.#putLeft(change, withoutList(this.#departed.without(group), leaving));
      else change.put(this.#unfinished, unfinishedKey(leaving), leaving);
      const removing = this.#begin(change, { kind: 'removing', ...work });
      // The folder is removed first: on a full disk that makes room for writing the groups.
      return last === undefined ? [removing] : [removing, leaving];
    });
  }

  groups(account: string): readonly GroupRecord[] {
    return [...this.#groupsAsTheyAre(account)];
  }

  groupPage(account: string, { after, size }: WantedPage): Page<GroupRecord> {
    return pageOf(this.#groupsAsTheyAre(account, after), ({ name }) => name, size);
  }

  group(account: string, name: string): GroupRecord | undefined {
    const stored = this.#groups.get(compositeKey(account, name));
    return stored === undefined ? undefined : this.#departed.without(stored);
  }

  *#groupsAsTheyAre(account: string, after?: string): Generator<GroupRecord> {
    for (const stored of this.#groups.from(prefixOf(account), after)) yield this.#departed.without(stored);
  }

  createGroup(account: string, name: string, settings: GroupSettings): Promise<GroupRecord> {
    return this.#store.change((change) => {
      assertName('group', name);
      assertAccount(this.#store, account);
      this.#assertMembers(account, settings.lists);
      if (this.group(account, name) !== undefined) {
        throw new ServiceError('name-exists', `There is already a group '${name}' in the account '${account}'.`);
      }
      const now = this.#clock.nowIso();
      const group: GroupRecord = {
        account,
        name,
        reranker: settings.reranker,
        current_version: 1,
        versions: [{ version: 1, lists: settings.lists, created_utc: now }],
        created_utc: now,
        modified_utc: now,
      };
      this.#room.admit(undefined, group);
      change.put(this.#groups, compositeKey(account, name), group);
      change.emit(account, groupEvent('list.created', group));
      return group;
    });
  }

  updateGroup(account: string, name: string, settings: Partial<GroupSettings>): Promise<GroupRecord> {
    return this.#store.change((change) => {
      const group = this.#requiredGroup(account, name);
      const stored = this.#groups.get(compositeKey(account, name)) ?? group;
      const { reranker = group.reranker, lists } = settings;
      if (lists !== undefined) this.#assertMembers(account, lists);
      const now = this.#clock.nowIso();
      const changed = lists === undefined || sameMembers(group, lists) ? group : nextGroupVersion(group, lists, now);
      const record: GroupRecord = { ...changed, reranker, modified_utc: now };
      this.#room.admit(stored, record);
      change.put(this.#groups, compositeKey(account, name), record);
      if (!isDeepStrictEqual({ ...record, modified_utc: stored.modified_utc }, stored)) {
        change.emit(account, groupEvent('list.updated', record));
      }
      return record;
    });
  }

  deleteGroup(account: string, name: string): Promise<UnfinishedWork> {
    return this.#store.change((change) => {
      const group = this.#requiredGroup(account, name);
      change.remove(this.#groups, compositeKey(account, name));
      change.emit(account, groupEvent('list.deleted', group));
      return this.#begin(change, { kind: 'removing', subject: 'group', id: group.created_utc, account, name });
    });
  }

  unfinished(): readonly UnfinishedWork[] {
    return [...this.#unfinished.values()];
  }

  finish(work: UnfinishedWork): Promise<void> {
    if (work.kind === 'leaving') return this.#leaveGroups(work.account);
    return this.#store.change((change) => {
      const key = unfinishedKey(work);
      if (this.#unfinished.has(key)) change.remove(this.#unfinished, key);
    });
  }

  adopt({ accounts, lists }: AdoptedEntries): Promise<void> {
    return this.#store.change((change) => {
      for (const account of accounts) {
        if (this.#accounts.has(account.name)) throw nameExists('account', account.name);
        change.put(this.#accounts, account.name, account);
      }
      for (const list of lists) {
        assertName('list', list.name);
        if (this.list(list.account, list.name) !== undefined) throw nameExists('list', list.name);
        change.put(this.#lists, compositeKey(list.account, list.name), list);
      }
    });
  }

  #begin(change: Change, work: Omit<UnfinishedWork, 'since_utc'>): UnfinishedWork {
    const begun: UnfinishedWork = { ...work, since_utc: this.#clock.nowIso() };
    change.put(this.#unfinished, unfinishedKey(begun), begun);
    return begun;
  }

  /**
   * Removes all deleted lists of the account from its groups, so that a step that failed once is made up for when the
   * next list is deleted.
   */
  async #leaveGroups(account: string): Promise<void> {
    const works = this.#departed.of(account);
    let after: string | undefined;
    do {
      const { some, last } = groupsOfStep(this.#groups.from(prefixOf(account), after), (group) =>
        this.#departed.without(group),
      );
      await this.#store.change((change) => {
        for (const { name } of some) {
          const stored = this.#groups.get(compositeKey(account, name));
          const left = stored === undefined ? undefined : this.#departed.without(stored);
          if (left !== undefined && left !== stored) this.#putLeft(change, left);
        }
        if (last === undefined) for (const work of works) change.remove(this.#unfinished, unfinishedKey(work));
      });
      after = last;
    } while (after !== undefined);
  }

  #putLeft(change: Change, group: GroupRecord): void {
    change.put(this.#groups, compositeKey(group.account, group.name), group);
    change.emit(group.account, groupEvent('list.updated', group));
  }

  /** While the change waited for its turn, a list may have been deleted, and another one created under its name. */
  #assertMembers(account: string, members: readonly GroupMember[]): void {
    for (const { list, list_id } of members) {
      if (this.#requiredList(account, list).id === list_id) continue;
      throw new ServiceError(
        'list-not-found',
        `The list '${list}' was replaced by another one during the request; try again.`,
      );
    }
  }

  #requiredList(account: string, name: string): ListRecord {
    const list = this.list(account, name);
    if (list !== undefined) return list;
    throw new ServiceError('list-not-found', `There is no list '${name}' in the account '${account}'.`);
  }

  #requiredGroup(account: string, name: string): GroupRecord {
    const group = this.group(account, name);
    if (group !== undefined) return group;
    throw new ServiceError('group-not-found', `There is no group '${name}' in the account '${account}'.`);
  }
}

function unfinishedKey({ kind, subject, id, account, name }: Omit<UnfinishedWork, 'since_utc'>): string {
  // Separate from the removal of the list's folder, which may be done before or after it.
  if (kind === 'leaving') return compositeKey(kind, id);
  // The id of a list is never reused; a group or account is identified by its name and its creation time.
  return subject === 'list' ? compositeKey(subject, id) : [subject, account, name, id].join('/');
}

function nameExists(kind: 'account' | 'list', name: string): ServiceError {
  return new ServiceError('name-exists', `There is already ${kind === 'account' ? 'an' : 'a'} ${kind} '${name}'.`);
}

function reservedName(name: string): ServiceError {
  const detail = `'${name}' is reserved and cannot be the name of an account.`;
  return new ServiceError('invalid-name', detail, { errors: [{ pointer: '/name', detail }] });
}

function inOrderOfNames<T extends { readonly name: string }>(entries: Iterable<T>): readonly T[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
}
