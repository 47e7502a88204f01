/**
 * Opens what a path such as `/{account}/{list}/{version}` or `/group/{account}/{group}/{version}` names, ready for a
 * search worker.
 */
import { groupTarget, listTarget, type AnalyticsTarget } from '../../analytics/index.js';
import { reachesGroupOnly, type Caller } from '../../access/index.js';
import {
  currentMembers,
  presentMembers,
  type FieldDefinition,
  type GroupMember,
  type GroupRecord,
  type ListRecord,
} from '../../catalog/index.js';
import type { GenerationHandle } from '../../../native-bindings/index.js';
import type { GenerationLease, GenerationSettings, ListIndex } from '../../index/index.js';
import { ServiceError } from '../../platform/index.js';
import type { SearchTarget, SearchTask } from '../../search/index.js';
import { openIndex, requireList } from '../dispatch/list-access.js';
import type { OperationContext } from '../dispatch/operation.js';
import { accountName, groupName, listName, object, patterned } from './schemas.js';
import { rerankerKey, type RerankerOf } from './search-reranker.js';
import type { Services } from '../dispatch/services.js';
import type { RawInput } from '../dispatch/operation.js';

const LATEST = 'latest';
/** Includes numbers that no version has; the error then is that there is no such version. */
const VERSION_PATTERN = '0|[1-9][0-9]*';
const VERSION = new RegExp(`^(${VERSION_PATTERN})$`);

const listVersion = patterned(
  `^(${VERSION_PATTERN})$`,
  "the number of the list's version (`latest` is for groups only)",
  {
    description: 'Number of the version of the list, usually its `current_version`. `latest` is for groups only',
    examples: ['1'],
  },
);

export const listSearchParams = object({ account: accountName, list: listName, version: listVersion });
export const groupSearchParams = object({
  account: accountName,
  group: groupName,
  version: patterned(`^(${VERSION_PATTERN}|${LATEST})$`, '`latest` or the number of a version of the group', {
    description:
      '`latest`, or the number of a version of the group. `latest` searches the lists that are members now, each in its current version unless the group names another. A number searches the lists of that version of the group, in the versions that were current when it was created; with a key whose scope is the group, only those that are still members',
    examples: [LATEST],
  }),
});

export interface ListSearchParams {
  readonly account: string;
  readonly list: string;
  readonly version: string;
}
export interface GroupSearchParams {
  readonly account: string;
  readonly group: string;
  readonly version: string;
}

/** State under which an answer is cached and counted. */
export interface SearchState {
  /** Identifies the subject and the state of its lists: any write or change of settings changes the key. */
  readonly key: string;
  /** What the search is counted for. */
  readonly counted: AnalyticsTarget;
  readonly account: string;
}

/** Context for which targets are opened. */
export type TargetContext = Pick<OperationContext, 'services' | 'caller' | 'list'>;

/** The pictures of a list, if they are searched. */
export type PictureTarget =
  { readonly generation: GenerationHandle; readonly by: NonNullable<GenerationSettings['meaning']> } | undefined;

/** Available at once, or when the indexes are open. */
export type OpeningTargets = SearchTargets | Promise<SearchTargets>;

/** Leases on generations, valid until `release`. */
export interface SearchTargets extends SearchState {
  readonly targets: readonly SearchTarget[];
  readonly subject: SearchTask['subject'];
  /** One per target, like all arrays below. */
  readonly lists: readonly ListRecord[];
  readonly definitions: readonly FieldDefinition[];
  /** Vectors by which the list is searched. Undefined if it has none. */
  readonly searchedBy: readonly GenerationSettings['meaning'][];
  /** Generation of picture vectors, and their model. Undefined if pictures are not searched. */
  readonly pictures: readonly PictureTarget[];
  /** List or group that names the reranker. */
  readonly rerankedBy: RerankerOf;
  readonly release: () => void;
}

/**
 * Opens a list; synchronously if it is open already. Throws `invalid-parameter`, `list-not-found` or
 * `version-not-found`.
 */
export function listTargets({ services, list }: TargetContext, params: ListSearchParams): OpeningTargets {
  const number = assertListVersion(params.version);
  const index = list && services.indexes.opened(list.id);
  if (list !== undefined && index !== undefined) return targetsOfList(services, index, list, number);
  // The list may have been deleted, or its settings changed, while the body arrived.
  const record = requireList(services, params.account, params.list);
  return Promise.resolve(openIndex(services, record)).then((opened) => targetsOfList(services, opened, record, number));
}

/** Opens a version of an open list. Throws `version-not-found`. */
export function targetsOfList(
  services: Services,
  index: ListIndex,
  record: ListRecord,
  version: number,
): SearchTargets {
  const lease = index.lease(version);
  return {
    targets: [{ generation: lease.handle }],
    lists: [record],
    definitions: [lease.definition],
    searchedBy: [index.searchedBy(version)],
    pictures: [picturesOf(index, lease)],
    rerankedBy: record,
    subject: { kind: 'list', name: record.name, version },
    counted: listTarget(record),
    account: record.account,
    key: listKey(lease.sequence) + rerankerKey(services, record),
    release: () => {
      lease.release();
    },
  };
}

function picturesOf(index: ListIndex, { pictures, version }: GenerationLease): PictureTarget {
  const by = index.picturesSearchedBy(version);
  return pictures === undefined || by === undefined ? undefined : { generation: pictures.handle, by };
}

/** Returns the state of an open list without taking a lease. Undefined if `listTargets` would wait or throw. */
export function listState({ services, list }: TargetContext, { version }: RawInput['params']): SearchState | undefined {
  if (list === undefined || version === undefined || !VERSION.test(version)) return undefined;
  const sequence = services.indexes.opened(list.id)?.sequence(Number(version));
  return sequence === undefined
    ? undefined
    : { key: listKey(sequence) + rerankerKey(services, list), counted: listTarget(list), account: list.account };
}

function listKey(sequence: number): string {
  return `l${sequence}`;
}

/**
 * Opens the lists of a group that the caller may access; with a key of the group, only current members. Synchronous if
 * all lists are open. Throws `invalid-parameter`, `group-not-found`, `list-not-found` or `version-not-found`.
 */
export function groupTargets({ services, caller }: TargetContext, params: GroupSearchParams): OpeningTargets {
  // The group may have lost members while the body arrived, which its keys then may not access.
  const wanted = wantedMembers({ services, caller, group: requireGroup(services, params) }, params.version);
  const indexes = wanted.records.map((record) => openIndex(services, record));
  return indexes.some((index) => index instanceof Promise)
    ? Promise.all(indexes.map(async (index) => index)).then((opened) => targetsOfGroup(services, wanted, opened))
    : targetsOfGroup(services, wanted, indexes as ListIndex[]);
}

interface WantedMembers extends WantedGroupVersion {
  readonly group: GroupRecord;
  /** One per member. */
  readonly records: readonly ListRecord[];
}

interface GroupContext extends Pick<TargetContext, 'services' | 'caller'> {
  readonly group: GroupRecord;
}

function wantedMembers({ services, caller, group }: GroupContext, version: string): WantedMembers {
  const wanted = groupVersion(group, version, caller);
  return { ...wanted, group, records: wanted.lists.map((member) => memberList(services, group, member)) };
}

function targetsOfGroup(services: Services, wanted: WantedMembers, indexes: readonly ListIndex[]): SearchTargets {
  const { group, version, lists, isLatest, records } = wanted;
  const leases: GenerationLease[] = [];
  const searchedBy: GenerationSettings['meaning'][] = [];
  const pictures: PictureTarget[] = [];
  const release = (): void => {
    for (const lease of leases) lease.release();
  };
  try {
    const targets = lists.map((member, position) => {
      const index = indexes[position] as ListIndex;
      const lease = index.lease(isLatest ? member.version : member.pinned_version);
      leases.push(lease);
      searchedBy.push(index.searchedBy(lease.version));
      pictures.push(picturesOf(index, lease));
      return { generation: lease.handle, listName: member.list };
    });
    const definitions = leases.map(({ definition }) => definition);
    const subject = { kind: 'group', name: group.name, version } as const;
    const sequences = leases.map(({ sequence }) => sequence).join();
    const key = `g${group.account}/${group.name}/${version}:${sequences}${rerankerKey(services, group)}`;
    const named = { subject, counted: groupTarget(group), account: group.account, rerankedBy: group, key };
    return { targets, lists: records, definitions, searchedBy, pictures, ...named, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Like `listState`, for a group. */
export function groupState({ services, caller }: TargetContext, params: RawInput['params']): SearchState | undefined {
  const { account = '', group: name = '', version = '' } = params;
  const group = services.catalog.group(account, name);
  if (group === undefined) return undefined;
  try {
    const wanted = wantedMembers({ services, caller, group }, version);
    const indexes = wanted.records.map(({ id }) => services.indexes.opened(id));
    if (indexes.includes(undefined)) return undefined;
    const { key, counted, account, release } = targetsOfGroup(services, wanted, indexes as ListIndex[]);
    release();
    return { key, counted, account };
  } catch (error) {
    // The search itself reports the error.
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

/** Throws `group-not-found`. */
export function requireGroup(
  { catalog }: Services,
  { account, group: name }: Omit<GroupSearchParams, 'version'>,
): GroupRecord {
  const group = catalog.group(account, name);
  if (group !== undefined) return group;
  throw new ServiceError('group-not-found', `There is no group '${name}'.`);
}

interface WantedGroupVersion {
  readonly version: number;
  readonly lists: readonly GroupMember[];
  readonly isLatest: boolean;
}

function groupVersion(group: GroupRecord, text: string, caller: Caller): WantedGroupVersion {
  if (text === LATEST) return { version: group.current_version, lists: currentMembers(group), isLatest: true };
  const version = versionNumber(text);
  const found = group.versions.find((candidate) => candidate.version === version);
  if (found !== undefined) {
    const lists = reachesGroupOnly(caller) ? presentMembers(group, found.lists) : found.lists;
    return { version, lists, isLatest: false };
  }
  throw new ServiceError('version-not-found', `The group '${group.name}' has no version ${version}.`);
}

/**
 * Returns the list of a member. A deleted list is missing only from old versions of the group; a new list of the same
 * name is not that member.
 */
function memberList({ catalog }: Services, group: GroupRecord, { list, list_id }: GroupMember): ListRecord {
  const record = catalog.list(group.account, list);
  if (record !== undefined && record.id === list_id) return record;
  throw new ServiceError(
    'version-not-found',
    `This version of the group '${group.name}' contains the list '${list}', which was deleted.`,
  );
}

function assertListVersion(text: string): number {
  if (text !== LATEST) return versionNumber(text);
  throw invalidVersion(
    "'latest' is for groups only: a list is searched by the number of a version, such as its current_version.",
  );
}

function versionNumber(text: string): number {
  if (VERSION.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  throw invalidVersion(`A version is a whole number, not ${JSON.stringify(text)}.`);
}

function invalidVersion(detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ parameter: 'version', detail }] });
}
