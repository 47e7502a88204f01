/** What the catalogue knows: accounts, lists, groups. Field definitions belong to a list version (`FieldDefinition`). */

export type FacetType = 'string' | 'number' | 'boolean' | 'date';
export type Cardinality = 'Single' | 'Many';
export type ResourceKind = 'document' | 'image' | 'video' | 'audio';

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
  readonly created_utc: string;
  readonly modified_utc: string;
}

export interface GroupMember {
  readonly list: string;
  /** Absent: the list's current version at the time of each search. */
  readonly version?: number;
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

/**
 * All of `data/system` in memory, written through to LMDB: a method that changes something resolves when the change
 * is on disk. Lookups are synchronous. Main thread only.
 */
export interface Catalog {
  accounts(): readonly AccountRecord[];
  account(name: string): AccountRecord | undefined;
  createAccount(name: string, region: string): Promise<AccountRecord>;

  lists(account: string): readonly ListRecord[];
  list(account: string, name: string): ListRecord | undefined;
  /** Rejects with `name-exists`. */
  createList(list: Omit<ListRecord, 'id' | 'created_utc' | 'modified_utc'> & { readonly id?: string }): Promise<ListRecord>;
  /** Replaces the given members and `modified_utc`. */
  updateList(account: string, name: string, change: Partial<ListRecord>): Promise<ListRecord>;
  deleteList(account: string, name: string): Promise<void>;

  groups(account: string): readonly GroupRecord[];
  group(account: string, name: string): GroupRecord | undefined;
  putGroup(group: GroupRecord): Promise<GroupRecord>;
  deleteGroup(account: string, name: string): Promise<void>;
}
