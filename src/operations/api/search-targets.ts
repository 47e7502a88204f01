/** What a path such as `/{account}/{list}/{version}` or `/group/{account}/{group}/{version}` names, held ready for a search worker. */
import { Type } from 'typebox';
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
import type { GenerationLease, GenerationSettings, ListIndex } from '../../index/index.js';
import { ServiceError } from '../../platform/index.js';
import type { SearchTarget, SearchTask } from '../../search/index.js';
import { openIndex, requireList } from '../dispatch/list-access.js';
import { accountName, groupName, listName, object } from './schemas.js';
import { rerankerKey, type RerankerOf } from './search-reranker.js';
import type { Services } from '../dispatch/services.js';
import type { RawInput } from '../dispatch/validation.js';

const LATEST = 'latest';
const VERSION_PATTERN = '[1-9][0-9]{0,9}';
const VERSION = new RegExp(`^${VERSION_PATTERN}$`);

const versionText = (pattern: string, description: string, example: string) =>
  Type.String({ pattern: `^(${pattern})$`, description, examples: [example] });
const listVersion = versionText(
  VERSION_PATTERN,
  "Number of the list's version, such as its current_version; `latest` is for groups only",
  '1',
);

export const listSearchParams = object({ account: accountName, list: listName, version: listVersion });
export const groupSearchParams = object({
  account: accountName,
  group: groupName,
  version: versionText(
    `${VERSION_PATTERN}|${LATEST}`,
    "`latest`: the group's current lists, each in its current version unless the group names one; a number: the lists of that version of the group, in the versions that were current when it was made (for a key of the group, those of them that are members now)",
    LATEST,
  ),
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
}

/** For whom targets are looked up. */
export interface TargetContext {
  readonly services: Services;
  readonly caller: Caller;
}

/** Generations that stay good until `release`. */
export interface SearchTargets extends SearchState {
  readonly targets: readonly SearchTarget[];
  readonly subject: SearchTask['subject'];
  /** One a target, as all that follow. */
  readonly lists: readonly ListRecord[];
  readonly definitions: readonly FieldDefinition[];
  /** The vectors that it is searched by; undefined where it has none. */
  readonly searchedBy: readonly GenerationSettings['meaning'][];
  /** Who says which reranker the search has. */
  readonly rerankedBy: RerankerOf;
  readonly release: () => void;
}

/** Throws `invalid-parameter`, `list-not-found` or `version-not-found`. */
export async function listTargets(services: Services, params: ListSearchParams): Promise<SearchTargets> {
  assertListVersion(params.version);
  await openIndex(services, requireList(services, params.account, params.list));
  return openedListTargets(services, params);
}

/** The same at once, for a list that is open already; throws where it is not. */
function openedListTargets(services: Services, { account, list, version }: ListSearchParams): SearchTargets {
  const number = assertListVersion(version);
  const record = requireList(services, account, list);
  const index = openedIndex(services, record);
  const lease = index.lease(number);
  return {
    targets: [{ generation: lease.handle }],
    lists: [record],
    definitions: [lease.definition],
    searchedBy: [index.searchedBy(number)],
    rerankedBy: record,
    subject: { kind: 'list', name: list, version: number },
    counted: listTarget(record),
    key: listKey(lease.sequence) + rerankerKey(services, record),
    release: () => {
      lease.release();
    },
  };
}

/** The state of a list that is open, without a hold on it; undefined where `listTargets` would wait or throw. */
export function listState({ services }: TargetContext, params: RawInput['params']): SearchState | undefined {
  const { account, list, version } = params;
  if (account === undefined || list === undefined || version === undefined || !VERSION.test(version)) return undefined;
  const record = services.catalog.list(account, list);
  if (record === undefined) return undefined;
  const sequence = services.indexes.opened(record.id)?.sequence(Number(version));
  return sequence === undefined
    ? undefined
    : { key: listKey(sequence) + rerankerKey(services, record), counted: listTarget(record) };
}

function listKey(sequence: number): string {
  return `l${sequence}`;
}

/**
 * What the caller reaches of the group: a key of the group never more than the lists that are members now.
 * Throws `invalid-parameter`, `group-not-found`, `list-not-found` or `version-not-found`.
 */
export async function groupTargets(
  { services, caller }: TargetContext,
  params: GroupSearchParams,
): Promise<SearchTargets> {
  const group = requireGroup(services, params);
  const { lists } = groupVersion(group, params.version, caller);
  await Promise.all(lists.map(async (member) => openIndex(services, memberList(services, group, member))));
  return openedGroupTargets({ services, caller }, params);
}

/** The same at once, for a group whose lists are open already; throws where one is not. */
function openedGroupTargets({ services, caller }: TargetContext, params: GroupSearchParams): SearchTargets {
  const group = requireGroup(services, params);
  const { version, lists, isLatest } = groupVersion(group, params.version, caller);
  const leases: GenerationLease[] = [];
  const searchedBy: GenerationSettings['meaning'][] = [];
  const records = lists.map((member) => memberList(services, group, member));
  const release = (): void => {
    for (const lease of leases) lease.release();
  };
  try {
    const targets = lists.map((member, position) => {
      const index = openedIndex(services, records[position] as ListRecord);
      const lease = index.lease(isLatest ? member.version : member.pinned_version);
      leases.push(lease);
      searchedBy.push(index.searchedBy(lease.version));
      return { generation: lease.handle, listName: member.list };
    });
    const definitions = leases.map(({ definition }) => definition);
    const subject = { kind: 'group', name: group.name, version } as const;
    const sequences = leases.map(({ sequence }) => sequence).join();
    const key = `g${group.account}/${group.name}/${version}:${sequences}${rerankerKey(services, group)}`;
    const named = { subject, counted: groupTarget(group), rerankedBy: group, key };
    return { targets, lists: records, definitions, searchedBy, ...named, release };
  } catch (error) {
    release();
    throw error;
  }
}

/** As `listState`. */
export function groupState(context: TargetContext, params: RawInput['params']): SearchState | undefined {
  try {
    const { key, counted, release } = openedGroupTargets(context, params as unknown as GroupSearchParams);
    release();
    return { key, counted };
  } catch (error) {
    // What is wrong is said by the search itself.
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}

function openedIndex({ indexes }: Services, list: ListRecord): ListIndex {
  const index = indexes.opened(list.id);
  if (index !== undefined) return index;
  throw new ServiceError('list-not-found', `The list '${list.name}' is not open: it is being deleted.`);
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
  if (VERSION.test(text)) return Number(text);
  throw invalidVersion(`A version is a number from 1, not ${JSON.stringify(text)}.`);
}

function invalidVersion(detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ parameter: 'version', detail }] });
}
