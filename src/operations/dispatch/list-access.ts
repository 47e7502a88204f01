/** Shared by operations on lists: finding the list, opening its index, describing it, and serialising changes. */
import type { FieldDefinition, ListChange, ListRecord } from '../../catalog/index.js';
import type { ListIndex, ListOutline, SearchSettings, VersionStatus } from '../../index/index.js';
import { ServiceError, toldText } from '../../platform/index.js';
import type { Services } from './services.js';

/** Number of names that a missing name is compared with. */
const LISTS_COMPARED = 1000;

/** Throws `list-not-found`. */
export function requireList(services: Services, account: string, name: string): ListRecord {
  const list = services.catalog.list(account, name);
  if (list !== undefined) return list;
  const names = () => services.catalog.listPage(account, { size: LISTS_COMPARED }).entries.map((other) => other.name);
  throw new ServiceError('list-not-found', `There is no list '${name}' in the account '${account}'.`, {
    meant: { given: name, permission: 'list:read', names },
  });
}

/** Returns the list's index; synchronously if it is open already. */
export function openIndex(services: Services, list: ListRecord): ListIndex | Promise<ListIndex> {
  return services.indexes.opened(list.id) ?? services.indexes.open(list.id, searchSettings(list));
}

/** Throws `list-not-found`. */
export async function requireIndex(services: Services, params: { account: string; list: string }): Promise<ListIndex> {
  return openIndex(services, requireList(services, params.account, params.list));
}

/** Returns what search workers need to know of the list. */
export function searchSettings(
  list: Pick<ListRecord, 'account' | 'name' | 'language' | 'synonym_rules' | 'query_rules' | 'model' | 'features'>,
): SearchSettings {
  return {
    account: list.account,
    list: list.name,
    language: list.language,
    synonym_rules: list.synonym_rules,
    query_rules: list.query_rules,
    model: list.model,
    transcription_model: (list.features?.['transcription_model'] as string | null | undefined) ?? null,
    image_model: (list.features?.['image_model'] as string | null | undefined) ?? null,
  };
}

/** Returns the version whose field definitions are read and changed: the one being built, or else the current one. */
export function newestVersion(index: ListOutline): VersionStatus {
  const versions = index.versions();
  const newest = versions.reduce<VersionStatus | undefined>(
    (best, version) => (best === undefined || version.version > best.version ? version : best),
    undefined,
  );
  if (newest === undefined) throw new ServiceError('internal-error', 'The list has no version.');
  return newest;
}

/** Returns the list resource of the API. */
export async function describeList(services: Services, list: ListRecord) {
  return describeOutline(list, await openIndex(services, list));
}

/**
 * Returns the list resource for a listing of all lists; undefined for a list that was just deleted. A list whose index
 * is being rebuilt is described as well, without delaying the others.
 */
export async function describeListedList(services: Services, list: ListRecord) {
  try {
    return describeOutline(list, (await outlineOf(services, list)) ?? (await openIndex(services, list)));
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'list-not-found') return undefined;
    throw error;
  }
}

async function outlineOf({ indexes }: Services, list: ListRecord): Promise<ListOutline | undefined> {
  return indexes.outline(list.id) ?? (await indexes.outlineAtRest(list.id, searchSettings(list)));
}

/** Returns the code and detail for a list that cannot be described. */
export function describeUnavailable({ name }: ListRecord, error: unknown) {
  if (error instanceof ServiceError) return { name, code: error.code, detail: error.detail };
  return { name, code: 'internal-error', detail: 'The list cannot be opened; the log of the service says why.' };
}

/**
 * Changes a list's settings: in the catalogue, then in force, then next to its records. `definition`: fields that are
 * changed with them; if they are refused, the settings are restored. Fields come second because rules may be megabytes,
 * which a full disk may refuse while it accepts fields.
 */
export async function changeSettings(
  services: Services,
  { list, index }: { readonly list: ListRecord; readonly index: ListIndex },
  change: ListChange,
  definition?: FieldDefinition,
): Promise<ListRecord> {
  const record = await services.catalog.updateList(list.account, list.name, change);
  try {
    if (definition !== undefined) await index.changeDefinition(definition);
  } catch (error) {
    const taken = await takenBack(services, list, change);
    // Also if all is as before: the list may have been opened meanwhile with what the catalogue had then.
    await putInForce(index, taken ?? record).catch(() => undefined);
    throw taken === undefined ? withoutFields(error) : error;
  }
  await putInForce(index, record);
  return record;
}

async function putInForce(index: ListIndex, record: ListRecord): Promise<void> {
  await index.applySettings(searchSettings(record));
  await index.keepEntry();
}

/** Restores the settings. Returns undefined if the catalogue refuses that, so that the change stays. */
async function takenBack({ catalog }: Services, list: ListRecord, change: ListChange): Promise<ListRecord | undefined> {
  const before = Object.fromEntries(Object.keys(change).map((member) => [member, list[member as keyof ListRecord]]));
  return catalog.updateList(list.account, list.name, before).catch(() => undefined);
}

function withoutFields(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const detail = `${error.detail} The fields did not change; the other settings of the request are already in effect, because they could not be undone.`;
  return new ServiceError(error.problem, detail, { cause: error });
}

export type DescribedList = ReturnType<typeof describeOutline>;

function describeOutline(list: ListRecord, index: ListOutline) {
  const versions = [...index.versions()].sort((a, b) => a.version - b.version);
  const { definition } = newestVersion(index);
  const current = versions.find(({ version }) => version === index.currentVersion);
  return {
    name: list.name,
    account: list.account,
    engine: list.engine,
    language: list.language,
    searchable_fields: definition.searchable_fields,
    facets: definition.facets,
    resources: definition.resources,
    location_field: definition.location_field,
    fields_inferred: definition.inferred,
    query_rules: list.query_rules,
    synonym_rules: list.synonym_rules,
    model: list.model,
    ...meaningOf(index),
    reranker: list.reranker,
    suggestions: list.suggestions,
    current_version: index.currentVersion,
    versions: versions.map(({ version, state, record_count, created_utc, unfit }) => ({
      version,
      state,
      record_count,
      created_utc,
      ...(unfit === undefined ? {} : { unfit }),
    })),
    record_count: current?.record_count ?? 0,
    created_utc: list.created_utc,
    modified_utc: list.modified_utc,
  };
}

/** Absent while the list's index is being rebuilt. */
function meaningOf(index: ListOutline) {
  const meaning = index.meaning();
  if (meaning === undefined) return {};
  const { reasons: _, error, ...told } = meaning;
  return { meaning: error === undefined ? told : { ...told, error: toldText(error) } };
}

/**
 * Runs changes of the same list's settings and fields one after the other, so that two changes that each add a field
 * both count. Different lists do not wait for each other.
 */
export async function oneChangeAtATime<Result>(
  { runningChanges }: Services,
  { account, name }: { readonly account: string; readonly name: string },
  change: () => Promise<Result>,
): Promise<Result> {
  const key = `${account}/${name}`;
  const before = runningChanges.get(key) ?? Promise.resolve();
  const result = before.then(change);
  const settled = result.catch(() => undefined);
  runningChanges.set(key, settled);
  try {
    return await result;
  } finally {
    if (runningChanges.get(key) === settled) runningChanges.delete(key);
  }
}
