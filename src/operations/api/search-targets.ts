/** What a path such as `/{account}/{list}/{version}` or `/group/{account}/{group}/{version}` names, held ready for a search worker. */
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
/** Numbers that no version has, too: there is no such version, then. */
const VERSION_PATTERN = '0|[1-9][0-9]*';
const VERSION = new RegExp(`^(${VERSION_PATTERN})$`);

const listVersion = patterned(
  `^(${VERSION_PATTERN})$`,
  "the number of the list's version (`latest` is for groups only)",
  {
    description: "Number of the list's version, such as its current_version; `latest` is for groups only",
    examples: ['1'],
  },
);

export const listSearchParams = object({ account: accountName, list: listName, version: listVersion });
export const groupSearchParams = object({
  account: accountName,
  group: groupName,
  version: patterned(`^(${VERSION_PATTERN}|${LATEST})$`, '`latest` or the number of a version of the group', {
    description:
      "`latest`: the group's current lists, each in its current version unless the group names one; a number: the lists of that version of the group, in the versions that were current when it was made (for a key of the group, those of them that are members now)",
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

/** What an answer is kept and counted under. */
export interface SearchState {
  /** Names the subject and the state of its lists; another write or setting, another key. */
  readonly key: string;
  /** As what it is counted. */
  readonly counted: AnalyticsTarget;
  readonly account: string;
}

/** For whom targets are opened. */
export type TargetContext = Pick<OperationContext, 'services' | 'caller' | 'list'>;

/** The pictures of a list, as they are searched. */
export type PictureTarget =
  { readonly generation: GenerationHandle; readonly by: NonNullable<GenerationSettings['meaning']> } | undefined;

/** At once, or when the indexes are open. */
export type OpeningTargets = SearchTargets | Promise<SearchTargets>;

/** Generations that stay good until `release`. */
export interface SearchTargets extends SearchState {
  readonly targets: readonly SearchTarget[];
  readonly subject: SearchTask['subject'];
  /** One a target, as all that follow. */
  readonly lists: readonly ListRecord[];
  readonly definitions: readonly FieldDefinition[];
  /** The vectors that it is searched by; undefined where it has none. */
  readonly searchedBy: readonly GenerationSettings['meaning'][];
  /** By the pictures of its records: a generation of them, and their vectors; undefined where they are not searched. */
  readonly pictures: readonly PictureTarget[];
  /** Who says which reranker the search has. */
  readonly rerankedBy: RerankerOf;
  readonly release: () => void;
}

/** Throws `invalid-parameter`, `list-not-found` or `version-not-found`. At once where the list is open already. */
export function listTargets({ services, list }: TargetContext, params: ListSearchParams): OpeningTargets {
  const number = assertListVersion(params.version);
  const index = list && services.indexes.opened(list.id);
  if (list !== undefined && index !== undefined) return targetsOfList(services, index, list, number);
  // While the body came, it may have been deleted, or have got other settings to be opened with.
  const record = requireList(services, params.account, params.list);
  return Promise.resolve(openIndex(services, record)).then((opened) => targetsOfList(services, opened, record, number));
}

function targetsOfList(services: Services, index: ListIndex, record: ListRecord, version: number): SearchTargets {
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

/** The state of a list that is open, without a hold on it; undefined where `listTargets` would wait or throw. */
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
 * What the caller reaches of the group: a key of the group never more than the lists that are members now. At once where all lists are
 * open. Throws `invalid-parameter`, `group-not-found`, `list-not-found` or `version-not-found`.
 */
export function groupTargets({ services, caller }: TargetContext, params: GroupSearchParams): OpeningTargets {
  // While the body came, it may have lost members, which its keys then do not reach.
  const wanted = wantedMembers({ services, caller, group: requireGroup(services, params) }, params.version);
  const indexes = wanted.records.map((record) => openIndex(services, record));
  return indexes.some((index) => index instanceof Promise)
    ? Promise.all(indexes.map(async (index) => index)).then((opened) => targetsOfGroup(services, wanted, opened))
    : targetsOfGroup(services, wanted, indexes as ListIndex[]);
}

interface WantedMembers extends WantedGroupVersion {
  readonly group: GroupRecord;
  /** One a member. */
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

/** As `listState`. */
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
    // What is wrong is said by the search itself.
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

/** A list that was deleted since is missing in old versions of the group only; another one under its name is not it. */
function memberList({ catalog }: Services, group: GroupRecord, { list, list_id }: GroupMember): ListRecord {
  const record = catalog.list(group.account, list);
  if (record !== undefined && record.id === list_id) return record;
  throw new ServiceError(
    'version-not-found',
    `This version of the group '${group.name}' has the list '${list}', which is gone.`,
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
