/** What the catalogue knows: accounts, lists, groups. Field definitions belong to a list version (`FieldDefinition`). */

import type { FacetType, ResourceKind } from '../fields/index.js';
import type { Page, WantedPage } from '../platform/index.js';
import type { Change } from './collection.js';

export type Cardinality = 'Single' | 'Many';

export interface SearchableField {
  readonly name: string;
  readonly weight: number;
}
export interface Facet {
  readonly name: string;
  readonly type: FacetType;
  readonly cardinality: Cardinality;
}
export interface Resource {
  readonly name: string;
  readonly kind: ResourceKind;
}

/**
 * The field definition of one list version. The searchable field `name` stands for the record's name. `inferred` is
 * `pending` until the first records of a list that was created without any definition settle it.
 */
export interface FieldDefinition {
  readonly searchable_fields: readonly SearchableField[];
  readonly facets: readonly Facet[];
  readonly resources: readonly Resource[];
  readonly location_field: string | null;
  readonly inferred: 'no' | 'pending' | 'yes';
  /** By whose stems the version is indexed (BCP 47 primary tag); absent or `none`: by none. */
  readonly language?: string;
}

export interface AccountRecord {
  readonly name: string;
  readonly region: string;
  readonly created_utc: string;
}

/** A list's entry in the catalogue; everything about its versions is in the list's own store. */
export interface ListRecord {
  /** Folder name under data/lists; never reused, survives a rename. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly engine: string;
  readonly language: string;
  readonly query_rules: readonly unknown[];
  readonly synonym_rules: readonly unknown[];
  readonly model: string | null;
  readonly reranker: string | null;
  readonly suggestions: { readonly require_click: boolean };
  /** Settings that features add, by name; absent where none was ever given. */
  readonly features?: Readonly<Record<string, unknown>>;
  readonly created_utc: string;
  readonly modified_utc: string;
}

export interface GroupMember {
  readonly list: string;
  /**
   * The list that was meant: another one that is made under the name later is no member. Null in old versions of groups that
   * an earlier release wrote, where that list is gone.
   */
  readonly list_id: string | null;
  /** Absent: the list's current version at the time of each search of `latest`. */
  readonly version?: number;
  /** The list's version that a search of this group version by its number uses: `version`, or what was current. */
  readonly pinned_version: number;
}
export interface GroupVersion {
  readonly version: number;
  readonly lists: readonly GroupMember[];
  readonly created_utc: string;
}
export interface GroupRecord {
  readonly account: string;
  readonly name: string;
  readonly reranker: string | null;
  readonly current_version: number;
  readonly versions: readonly GroupVersion[];
  readonly created_utc: string;
  readonly modified_utc: string;
}

/** What a caller gives to make a list; the id only where the index was made before. */
export type NewList = Omit<ListRecord, 'id' | 'created_utc' | 'modified_utc'> & { readonly id?: string };

/** What a caller gives to make a group or to change its members. */
export interface GroupSettings {
  readonly reranker: string | null;
  readonly lists: readonly GroupMember[];
}

/**
 * Something outside of the catalogue that is being made or removed, or is too much of it for one change. It is written down before it is touched, or in one step
 * with what decides it, and taken off when it is done: what a crash cut short is known by name at the next start, and nothing
 * else is ever removed.
 */
export interface UnfinishedWork {
  /** Leaving: groups are written without the list, which all that is told of them has left already. */
  readonly kind: 'making' | 'removing' | 'leaving';
  /** Of a list: its folder, and its analytics. Of a group: its analytics. Of an account: keys, webhooks, contributors. */
  readonly subject: 'list' | 'group' | 'account';
  /** Of the list; of a group and an account, when it was made. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly since_utc: string;
}

/** How many lists an account may have. */
export interface ListQuota {
  /** Inside the change that adds a list to those that `lists` counts; may add to the change. Throws `plan-limit`. */
  admitList(change: Change, account: string, lists: () => number): void;
}

/** What is put back into the catalogue from the stores of lists. */
export interface AdoptedEntries {
  readonly accounts: readonly AccountRecord[];
  readonly lists: readonly ListRecord[];
}

/**
 * All of `data/system` in memory, written through to LMDB: a method that changes something resolves when the change
 * is on disk. Lookups are synchronous. Main thread only.
 */
export interface Catalog {
  /** Who says how many lists an account may have. Nobody: as many as it likes. */
  useQuota(quota: ListQuota): void;
  /** In order of their names. */
  accounts(): readonly AccountRecord[];
  accountPage(wanted: WantedPage): Page<AccountRecord>;
  account(name: string): AccountRecord | undefined;
  /** Rejects with `name-exists`, and `conflict` while what an account of that name had is still being removed. */
  createAccount(name: string, region: string): Promise<AccountRecord>;
  /** The same inside a change of the same environment. */
  addAccount(change: Change, name: string, region: string): AccountRecord;
  /** Whether an account could be made with this name, if it is a good one. */
  isAccountNameFree(name: string): boolean;
  /**
   * In one step with the account go its lists and groups, and it is written down what is to be removed beside the catalogue; that of
   * the account itself comes last. Rejects with `account-not-found`.
   */
  deleteAccount(name: string): Promise<readonly UnfinishedWork[]>;

  /** In order of their names. */
  lists(account: string): readonly ListRecord[];
  /** Some of them; the cursor is the name. */
  listPage(account: string, page: WantedPage): Page<ListRecord>;
  list(account: string, name: string): ListRecord | undefined;
  /** The list whose folder has this name. */
  listOfId(id: string): ListRecord | undefined;
  /** Writes down that the folder of a list with this id is about to be made; `createList` or `finish` takes it off. */
  beginList(list: Pick<ListRecord, 'id' | 'account' | 'name'>): Promise<UnfinishedWork>;
  /** Rejects with `name-exists`, `account-not-found`, or `limit-reached` (`catalog-room.ts`). `fields` is told with the event, and kept elsewhere. */
  createList(list: NewList, fields?: FieldDefinition): Promise<ListRecord>;
  /** Replaces the given members and `modified_utc`. Rejects with `list-not-found`, or `limit-reached`. */
  updateList(account: string, name: string, change: ListChange): Promise<ListRecord>;
  /**
   * In one step with the list, a group that has it as a member gets a new version without it, and it is written down what is
   * to be removed beside the catalogue: `finish` takes that off. Where thousands have it, it is written down that they are to be
   * written (`leaving`), which `finish` does in steps; whoever asks for a group is told of it without the list from the first one on.
   * Rejects with `list-not-found`.
   */
  deleteList(account: string, name: string): Promise<readonly UnfinishedWork[]>;

  /** In order of their names. */
  groups(account: string): readonly GroupRecord[];
  /** Some of them; the cursor is the name. */
  groupPage(account: string, page: WantedPage): Page<GroupRecord>;
  group(account: string, name: string): GroupRecord | undefined;
  /** Version 1. Rejects with `name-exists`, `account-not-found`, or `limit-reached`. */
  createGroup(account: string, name: string, settings: GroupSettings): Promise<GroupRecord>;
  /** A change of the members makes the next version. Rejects with `group-not-found`, or `limit-reached`. */
  updateGroup(account: string, name: string, change: Partial<GroupSettings>): Promise<GroupRecord>;
  /** Resolves with what is to be removed beside the catalogue. Rejects with `group-not-found`. */
  deleteGroup(account: string, name: string): Promise<UnfinishedWork>;

  /** What was begun and is not known to be done, in no order. */
  unfinished(): readonly UnfinishedWork[];
  /** It is done, or, where groups are to be written without a list, does it. Nothing where it was done before. */
  finish(work: UnfinishedWork): Promise<void>;
  /** All of it in one step. Rejects with `name-exists` where an account or list is there already; nothing is changed then. */
  adopt(entries: AdoptedEntries): Promise<void>;
}

/** What may be changed of a list's entry; the rest is its identity. */
export type ListChange = Partial<Omit<ListRecord, 'id' | 'account' | 'name' | 'created_utc' | 'modified_utc'>>;
