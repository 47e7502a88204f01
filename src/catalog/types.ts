/**
 * Types of the catalogue: accounts, lists, groups. Field definitions belong to a version of a list (`FieldDefinition`).
 */

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
 * Field definition of one version of a list. The searchable field `name` stands for the record's name. `inferred` is
 * `pending` until the first records of a list that was created without a definition determine it.
 */
export interface FieldDefinition {
  readonly searchable_fields: readonly SearchableField[];
  readonly facets: readonly Facet[];
  readonly resources: readonly Resource[];
  readonly location_field: string | null;
  readonly inferred: 'no' | 'pending' | 'yes';
  /** Language of the stemmer with which the version is indexed (BCP 47 primary tag); absent or `none`: no stemming. */
  readonly language?: string;
}

export interface AccountRecord {
  readonly name: string;
  readonly region: string;
  readonly created_utc: string;
}

/** Catalogue entry of a list; everything about its versions is in the list's own store. */
export interface ListRecord {
  /** Folder name under data/lists; never reused, unchanged by a rename. */
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
  /** Settings that features add, by name; absent if none was ever set. */
  readonly features?: Readonly<Record<string, unknown>>;
  readonly created_utc: string;
  readonly modified_utc: string;
}

export interface GroupMember {
  readonly list: string;
  /**
   * Id of the list that was meant: a list that is later created under the name is not a member. Null in old versions of
   * groups that an earlier release wrote, if that list is gone.
   */
  readonly list_id: string | null;
  /** Absent: the list's current version at the time of each search of `latest`. */
  readonly version?: number;
  /**
   * Version of the list that a search of this group version by its number uses: `version`, or the version that was
   * current.
   */
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

/** Data for creating a list; has an id only if the index was created before. */
export type NewList = Omit<ListRecord, 'id' | 'created_utc' | 'modified_utc'> & { readonly id?: string };

/** Data for creating a group or changing its members. */
export interface GroupSettings {
  readonly reranker: string | null;
  readonly lists: readonly GroupMember[];
}

/**
 * Something outside the catalogue that is being created or removed, or a change of the catalogue that is too large for
 * one transaction. It is recorded before it is begun, or together with the change that causes it, and removed when it
 * is done. So the next start knows by name what a crash interrupted, and nothing else is ever removed.
 */
export interface UnfinishedWork {
  /** `leaving`: groups on disk still have to be written without the list; readers see them without it already. */
  readonly kind: 'making' | 'removing' | 'leaving';
  /** List: its folder and its analytics. Group: its analytics. Account: keys, webhooks, contributors. */
  readonly subject: 'list' | 'group' | 'account';
  /** Id of the list; for a group or account, its creation time. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly since_utc: string;
}

/** Limit on the number of lists of an account. */
export interface ListQuota {
  /**
   * Checks the limit inside the change that adds a list, which `lists` does not count yet; may add to the change.
   * Throws `plan-limit`.
   */
  admitList(change: Change, account: string, lists: () => number): void;
}

/** Entries that are restored from the stores of lists. */
export interface AdoptedEntries {
  readonly accounts: readonly AccountRecord[];
  readonly lists: readonly ListRecord[];
}

/**
 * All of `data/system` in memory, written through to LMDB: a method that changes something resolves when the change is
 * on disk. Lookups are synchronous. Main thread only.
 */
export interface Catalog {
  /** Sets the limit on the number of lists of an account. Without it there is none. */
  useQuota(quota: ListQuota): void;
  /** In order of their names. */
  accounts(): readonly AccountRecord[];
  accountPage(wanted: WantedPage): Page<AccountRecord>;
  account(name: string): AccountRecord | undefined;
  /**
   * Rejects with `name-exists`, or with `conflict` while the data of a former account of that name is still being
   * removed.
   */
  createAccount(name: string, region: string): Promise<AccountRecord>;
  /** As `createAccount`, inside a change of the same environment. */
  addAccount(change: Change, name: string, region: string): AccountRecord;
  /** True if the memory for lists and groups is used up. Each account then still has some KiB. */
  readonly isFull: boolean;
  /** True if no account has this name and it is not reserved; does not check its form. */
  isAccountNameFree(name: string): boolean;
  /**
   * Deletes the account with its lists and groups in one step, and records what is to be removed outside the catalogue;
   * the work of the account itself comes last. Rejects with `account-not-found`.
   */
  deleteAccount(name: string): Promise<readonly UnfinishedWork[]>;

  /** In order of their names. */
  lists(account: string): readonly ListRecord[];
  /** Returns a page of the lists; the cursor is the name. */
  listPage(account: string, page: WantedPage): Page<ListRecord>;
  list(account: string, name: string): ListRecord | undefined;
  /** Returns the list whose folder has this name. */
  listOfId(id: string): ListRecord | undefined;
  /**
   * Records that the folder of a list with this id is about to be created; `createList` or `finish` removes the record.
   */
  beginList(list: Pick<ListRecord, 'id' | 'account' | 'name'>): Promise<UnfinishedWork>;
  /**
   * Rejects with `name-exists`, `account-not-found`, or `limit-reached` (`catalog-room.ts`). `fields` is only for the
   * event; the definition is stored elsewhere.
   */
  createList(list: NewList, fields?: FieldDefinition): Promise<ListRecord>;
  /** Replaces the given members and `modified_utc`. Rejects with `list-not-found`, or `limit-reached`. */
  updateList(account: string, name: string, change: ListChange): Promise<ListRecord>;
  /**
   * Deletes the list. In the same step, groups that have it as a member get a new version without it, and the removal
   * of what is outside the catalogue is recorded, until `finish`. If thousands of groups have it, only that is recorded
   * (`leaving`), and `finish` writes them in steps; readers see all groups without the list at once. Rejects with
   * `list-not-found`, and with what `assertWanted` throws, which is called when no other change is in between.
   */
  deleteList(
    account: string,
    name: string,
    assertWanted?: (list: ListRecord) => void,
  ): Promise<readonly UnfinishedWork[]>;

  /** In order of their names. */
  groups(account: string): readonly GroupRecord[];
  /** Returns a page of the groups; the cursor is the name. */
  groupPage(account: string, page: WantedPage): Page<GroupRecord>;
  group(account: string, name: string): GroupRecord | undefined;
  /** Creates version 1. Rejects with `name-exists`, `account-not-found`, or `limit-reached`. */
  createGroup(account: string, name: string, settings: GroupSettings): Promise<GroupRecord>;
  /** A change of the members creates the next version. Rejects with `group-not-found`, or `limit-reached`. */
  updateGroup(account: string, name: string, change: Partial<GroupSettings>): Promise<GroupRecord>;
  /** Resolves with what is to be removed outside the catalogue. Rejects with `group-not-found`. */
  deleteGroup(account: string, name: string): Promise<UnfinishedWork>;

  /** Returns the work that was begun and is not known to be done, in no particular order. */
  unfinished(): readonly UnfinishedWork[];
  /** Marks the work as done; work of the kind `leaving` is done by this call. Does nothing if it was done before. */
  finish(work: UnfinishedWork): Promise<void>;
  /**
   * Adds all entries in one step. Rejects with `name-exists` if an account or list exists already; nothing is changed
   * then.
   */
  adopt(entries: AdoptedEntries): Promise<void>;
}

/** Members of a list's entry that can be changed; the others are its identity. */
export type ListChange = Partial<Omit<ListRecord, 'id' | 'account' | 'name' | 'created_utc' | 'modified_utc'>>;
