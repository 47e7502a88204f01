/** The catalogue over the `system` environment; see `Catalog` for what holds. */
import { isDeepStrictEqual } from 'node:util';
import { nameFault, ServiceError, uuidv7, type Clock, type LmdbEnvironment } from '../platform/index.js';
import { CollectionStore, compositeKey, type Change, type Collection } from './collection.js';
import { groupEvent, listCreatedEvent, listDeletedEvent, listUpdatedEvent } from './catalog-events.js';
import { currentMembers, nextGroupVersion, sameMembers } from './group-versions.js';
import type {
  AccountRecord,
  Catalog,
  FieldDefinition,
  GroupMember,
  GroupRecord,
  GroupSettings,
  ListChange,
  ListRecord,
  NewList,
} from './types.js';

/** Reads everything there is into memory. */
export function openCatalog(environment: LmdbEnvironment, clock: Clock): Promise<Catalog> {
  return Promise.resolve(new StoredCatalog(CollectionStore.of(environment), clock));
}

class StoredCatalog implements Catalog {
  readonly #store: CollectionStore;
  readonly #clock: Clock;
  readonly #accounts: Collection<AccountRecord>;
  readonly #lists: Collection<ListRecord>;
  readonly #groups: Collection<GroupRecord>;

  constructor(store: CollectionStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#accounts = store.collection('accounts');
    this.#lists = store.collection('lists');
    this.#groups = store.collection('groups');
  }

  accounts(): readonly AccountRecord[] {
    return inOrderOfNames(this.#accounts.values());
  }

  account(name: string): AccountRecord | undefined {
    return this.#accounts.get(name);
  }

  createAccount(name: string, region: string): Promise<AccountRecord> {
    return this.#store.change((change) => {
      assertGoodName('account', name);
      if (this.#accounts.has(name)) throw new ServiceError('name-exists', `There is already an account '${name}'.`);
      const account: AccountRecord = { name, region, created_utc: this.#clock.nowIso() };
      change.put(this.#accounts, name, account);
      return account;
    });
  }

  lists(account: string): readonly ListRecord[] {
    return inOrderOfNames(ofAccount(this.#lists, account));
  }

  list(account: string, name: string): ListRecord | undefined {
    return this.#lists.get(compositeKey(account, name));
  }

  createList(list: NewList, fields?: FieldDefinition): Promise<ListRecord> {
    return this.#store.change((change) => {
      const { account, name } = list;
      assertGoodName('list', name);
      this.#assertAccount(account);
      if (this.list(account, name) !== undefined) {
        throw new ServiceError('name-exists', `There is already a list '${name}' in the account '${account}'.`);
      }
      const now = this.#clock.nowIso();
      const record: ListRecord = { ...list, id: list.id ?? uuidv7(), created_utc: now, modified_utc: now };
      change.put(this.#lists, compositeKey(account, name), record);
      change.tell(account, listCreatedEvent(record, fields));
      return record;
    });
  }

  updateList(account: string, name: string, members: ListChange): Promise<ListRecord> {
    return this.#store.change((change) => {
      const before = this.#requiredList(account, name);
      const record: ListRecord = { ...before, ...members, modified_utc: this.#clock.nowIso() };
      change.put(this.#lists, compositeKey(account, name), record);
      const event = listUpdatedEvent(before, record);
      if (event !== undefined) change.tell(account, event);
      return record;
    });
  }

  deleteList(account: string, name: string): Promise<void> {
    return this.#store.change((change) => {
      this.#requiredList(account, name);
      change.remove(this.#lists, compositeKey(account, name));
      change.tell(account, listDeletedEvent(name));
      for (const group of ofAccount(this.#groups, account)) this.#removeMember(change, group, name);
    });
  }

  groups(account: string): readonly GroupRecord[] {
    return inOrderOfNames(ofAccount(this.#groups, account));
  }

  group(account: string, name: string): GroupRecord | undefined {
    return this.#groups.get(compositeKey(account, name));
  }

  createGroup(account: string, name: string, settings: GroupSettings): Promise<GroupRecord> {
    return this.#store.change((change) => {
      assertGoodName('group', name);
      this.#assertAccount(account);
      if (this.group(account, name) !== undefined) {
        throw new ServiceError('name-exists', `There is already a group '${name}' in the account '${account}'.`);
      }
      this.#requireMembers(account, settings.lists);
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
      change.put(this.#groups, compositeKey(account, name), group);
      change.tell(account, groupEvent('list.created', group));
      return group;
    });
  }

  updateGroup(account: string, name: string, settings: Partial<GroupSettings>): Promise<GroupRecord> {
    return this.#store.change((change) => {
      const group = this.#requiredGroup(account, name);
      const { reranker = group.reranker, lists } = settings;
      if (lists !== undefined) this.#requireMembers(account, lists);
      const now = this.#clock.nowIso();
      const changed = lists === undefined || sameMembers(group, lists) ? group : nextGroupVersion(group, lists, now);
      const record: GroupRecord = { ...changed, reranker, modified_utc: now };
      change.put(this.#groups, compositeKey(account, name), record);
      if (!isDeepStrictEqual({ ...record, modified_utc: group.modified_utc }, group)) {
        change.tell(account, groupEvent('list.updated', record));
      }
      return record;
    });
  }

  deleteGroup(account: string, name: string): Promise<void> {
    return this.#store.change((change) => {
      const group = this.#requiredGroup(account, name);
      change.remove(this.#groups, compositeKey(account, name));
      change.tell(account, groupEvent('list.deleted', group));
    });
  }

  #removeMember(change: Change, group: GroupRecord, list: string): void {
    const members = currentMembers(group);
    const left = members.filter((member) => member.list !== list);
    if (left.length === members.length) return;
    const now = this.#clock.nowIso();
    const next = { ...nextGroupVersion(group, left, now), modified_utc: now };
    change.put(this.#groups, compositeKey(group.account, group.name), next);
    change.tell(group.account, groupEvent('list.updated', next));
  }

  #assertAccount(account: string): void {
    if (this.#accounts.has(account)) return;
    throw new ServiceError('account-not-found', `There is no account '${account}'.`);
  }

  #requiredList(account: string, name: string): ListRecord {
    const list = this.list(account, name);
    if (list !== undefined) return list;
    throw new ServiceError('list-not-found', `There is no list '${name}' in the account '${account}'.`);
  }

  /** Whoever chose them may have waited since, and a list been deleted: a group never gets a member that is gone. */
  #requireMembers(account: string, members: readonly GroupMember[]): void {
    for (const { list } of members) this.#requiredList(account, list);
  }

  #requiredGroup(account: string, name: string): GroupRecord {
    const group = this.group(account, name);
    if (group !== undefined) return group;
    throw new ServiceError('group-not-found', `There is no group '${name}' in the account '${account}'.`);
  }
}

function assertGoodName(kind: 'account' | 'list' | 'group', name: string): void {
  const fault = nameFault(kind, name);
  if (fault !== undefined) throw new ServiceError('invalid-name', fault);
}

function* ofAccount<T extends { readonly account: string }>(collection: Collection<T>, account: string): Generator<T> {
  for (const entry of collection.values()) if (entry.account === account) yield entry;
}

function inOrderOfNames<T extends { readonly name: string }>(entries: Iterable<T>): readonly T[] {
  return [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
}
