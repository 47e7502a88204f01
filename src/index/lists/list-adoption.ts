/**
 * Restores lists that the catalogue does not have from what their stores keep, for `gannet doctor --adopt-lists`.
 * Nothing else may have them open meanwhile.
 *
 * Folders are moved to their place first, and the catalogue is written last, in one step. After a crash in between, the
 * folders are unknown again, and the adoption can be repeated.
 */
import { existsSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountRecord, Catalog, ListRecord } from '../../catalog/index.js';
import { nameFault, uuidv7 } from '../../platform/index.js';
import { RecordStore } from '../../records/index.js';
import { currentVersionOf, type KeptEntry, type ListState } from '../../store/index.js';
import {
  idOfUnknown,
  listFolder,
  listFolderNames,
  putListsBack,
  unknownListNames,
  unknownListsFolder,
} from './list-folders.js';

const NAME_CHARACTERS_MAX = 64;

export interface AdoptionOptions {
  readonly dataDir: string;
  readonly catalog: Catalog;
  /** For lists of earlier releases, which do not say which account they belong to. */
  readonly account: { readonly name: string; readonly region: string };
}

export interface AdoptedList {
  readonly account: string;
  readonly name: string;
  /** Previous name; null if it is unknown, undefined if the name is unchanged. */
  readonly former_name: string | null | undefined;
  readonly id: string;
  readonly records: number;
  /** False if only records and fields were there; language, rules and suggestions are then those of a new list. */
  readonly settings_known: boolean;
}

export interface AdoptionReport {
  readonly accounts: readonly string[];
  readonly lists: readonly AdoptedList[];
  /** Ids of lists of the catalogue whose folders had been moved aside. */
  readonly put_back: readonly string[];
  /** Folders that were not adopted. */
  readonly left: readonly { readonly path: string; readonly reason: string }[];
}

interface Found {
  readonly path: string;
  readonly folderId: string;
  readonly isAside: boolean;
  readonly state: ListState;
  readonly kept: KeptEntry | undefined;
  readonly records: number;
}

export async function adoptLists(options: AdoptionOptions): Promise<AdoptionReport> {
  const { catalog, dataDir } = options;
  const known = new Set(catalog.accounts().flatMap(({ name }) => catalog.lists(name).map(({ id }) => id)));
  const put_back = putListsBack(dataDir, known);
  const { found, left } = await readFolders(options, known);
  const plan = new AdoptionPlan(options);
  const adopted = found.map((each) => plan.add(each));
  for (const { path, target } of adopted) if (path !== target) renameSync(path, target);
  await catalog.adopt({ accounts: plan.accounts, lists: adopted.map(({ list }) => list) });
  const accounts = plan.accounts.map(({ name }) => name);
  return { accounts, lists: adopted.map(({ told }) => told), put_back, left };
}

async function readFolders({ dataDir, catalog }: AdoptionOptions, known: ReadonlySet<string>) {
  // These are removed at the next start: their removal was requested, or, as their stores say, they never came into the
  // catalogue.
  const ofFolders = catalog.unfinished().filter(({ kind }) => kind !== 'leaving');
  const unfinished = new Map(ofFolders.map(({ id, kind }) => [id, kind]));
  const folders = [
    ...listFolderNames(dataDir)
      .filter((id) => !known.has(id) && unfinished.get(id) !== 'removing')
      .map((id) => ({ path: listFolder(dataDir, id), folderId: id, isAside: false })),
    ...unknownListNames(dataDir).map((name) => {
      return { path: join(unknownListsFolder(dataDir), name), folderId: idOfUnknown(name), isAside: true };
    }),
  ];
  const found: Found[] = [];
  const left: { path: string; reason: string }[] = [];
  for (const folder of folders) {
    try {
      const read = await readStore(folder.path);
      if (read.kept !== undefined || !unfinished.has(folder.folderId)) found.push({ ...folder, ...read });
    } catch (error) {
      left.push({ path: folder.path, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  // Names go to the oldest lists first, so that the outcome does not depend on the order of the file system.
  found.sort((a, b) =>
    a.folderId === b.folderId ? Number(a.isAside) - Number(b.isAside) : a.folderId < b.folderId ? -1 : 1,
  );
  return { found, left };
}

async function readStore(path: string): Promise<Pick<Found, 'state' | 'kept' | 'records'>> {
  const store = new RecordStore(path);
  try {
    const state = store.state();
    if (state === undefined) throw new Error('It holds no list: its creation was cut short.');
    return { state, kept: store.keptEntry(), records: store.version(state.currentVersion).recordCount() };
  } finally {
    await store.close();
  }
}

interface Adoption {
  readonly path: string;
  readonly target: string;
  readonly list: ListRecord;
  readonly told: AdoptedList;
}

/** Assigns ids, names and accounts to the lists that are adopted together. */
class AdoptionPlan {
  readonly accounts: AccountRecord[] = [];
  private readonly ids = new Set<string>();
  private readonly names = new Set<string>();

  constructor(private readonly options: AdoptionOptions) {}

  add(found: Found): Adoption {
    const { kept, state, records, path } = found;
    const id = this.idFor(found);
    const account = kept?.list.account ?? this.options.account.name;
    const former = kept?.list.name;
    const name = this.nameFor(account, former ?? `list-${found.folderId.toLowerCase()}`);
    const list = kept === undefined ? newEntry(state) : kept.list;
    const record: ListRecord = { ...list, id, account, name };
    this.addAccount(account, kept?.region ?? this.options.account.region, record.created_utc);
    const told: AdoptedList = {
      account,
      name,
      former_name: former === name ? undefined : (former ?? null),
      id,
      records,
      settings_known: kept !== undefined,
    };
    return { path, target: listFolder(this.options.dataDir, id), list: record, told };
  }

  /** A folder in its place keeps its id. One that was moved aside gets its id back, unless another list has it now. */
  private idFor({ folderId, isAside }: Found): string {
    const { dataDir } = this.options;
    const isTaken = this.ids.has(folderId) || (isAside && existsSync(listFolder(dataDir, folderId)));
    const id = isTaken ? uuidv7() : folderId;
    this.ids.add(id);
    return id;
  }

  private nameFor(account: string, wanted: string): string {
    const base = nameFault('list', wanted) === undefined ? wanted : `list-${uuidv7()}`;
    for (let number = 1; ; number++) {
      const suffix = number === 1 ? '' : `-${number}`;
      const name = base.slice(0, NAME_CHARACTERS_MAX - suffix.length) + suffix;
      const key = `${account}/${name}`;
      if (this.names.has(key) || this.options.catalog.list(account, name) !== undefined) continue;
      this.names.add(key);
      return name;
    }
  }

  private addAccount(name: string, region: string, createdUtc: string): void {
    if (this.options.catalog.account(name) !== undefined) return;
    if (this.accounts.some((account) => account.name === name)) return;
    this.accounts.push({ name, region, created_utc: createdUtc });
  }
}

/** Entry of a list whose store keeps none: taken from its state, otherwise that of a new list. */
function newEntry(state: ListState): Omit<ListRecord, 'id' | 'account' | 'name'> {
  const { definition } = currentVersionOf(state);
  const created = state.versions[0]?.created_utc ?? currentVersionOf(state).created_utc;
  return {
    engine: 'managed',
    language: definition.language ?? 'en',
    query_rules: [],
    synonym_rules: [],
    model: null,
    reranker: null,
    suggestions: { require_click: false },
    created_utc: created,
    modified_utc: created,
  };
}
