/** `/search`: one list, or the lists of a group as one. */
import { Type } from 'typebox';
import { currentMembers, type GroupMember, type GroupRecord, type ListRecord } from '../catalog/index.js';
import type { GenerationLease, ListIndex } from '../index/index.js';
import { ServiceError, uuidv7 } from '../platform/index.js';
import type { SearchOptions, SearchTarget, SearchTask } from '../search/index.js';
import { openIndex, requireList } from './list-access.js';
import { defineOperation, type OperationContext, type OperationResult } from './operation.js';
import { accountName, groupName, listName, object } from './schemas.js';
import { searchBody, searchOptions, searchQuery } from './search-options.js';
import { searchResponse } from './search-response.js';

const VERSION = /^[1-9][0-9]{0,9}$/;
const LATEST = 'latest';

const versionText = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: 20, description, examples: [example] });

const listSearchParams = object({
  account: accountName,
  list: listName,
  version: versionText("Number of the list's version; `latest` is for groups only", '1'),
});
const groupSearchParams = object({
  account: accountName,
  group: groupName,
  version: versionText(
    "`latest`: the group's current lists, each in its current version unless the group names one; a number: the lists of that version of the group, in the versions that were current when it was made",
    LATEST,
  ),
});

const common = {
  permission: 'search-result:read',
  callers: ['key', 'console', 'cli'],
  rateLimit: 'search',
  responses: { 200: { description: 'The hits of the page and the counts over all', schema: searchResponse } },
  errors: ['version-not-found', 'invalid-filter', 'overloaded'],
} as const;
const ofList = {
  ...common,
  path: '/search/{account}/{list}/{version}',
  target: 'list',
  params: listSearchParams,
} as const;
const ofGroup = {
  ...common,
  path: '/search/group/{account}/{group}/{version}',
  target: 'group',
  params: groupSearchParams,
  errors: [...common.errors, 'list-not-found'],
} as const;

const listByQuery = defineOperation({
  ...ofList,
  name: 'search.list-by-query',
  summary: 'Search a list, with the options in the query string',
  method: 'GET',
  query: searchQuery,
  handle: (context, { params, query }) => searchList(context, params, searchOptions(query)),
});

const listByBody = defineOperation({
  ...ofList,
  name: 'search.list',
  summary: 'Search a list',
  method: 'POST',
  body: searchBody,
  handle: (context, { params, body }) => searchList(context, params, searchOptions(body)),
});

const groupByQuery = defineOperation({
  ...ofGroup,
  name: 'search.group-by-query',
  summary: 'Search the lists of a group as one, with the options in the query string',
  method: 'GET',
  query: searchQuery,
  handle: (context, { params, query }) => searchGroup(context, params, searchOptions(query)),
});

const groupByBody = defineOperation({
  ...ofGroup,
  name: 'search.group',
  summary: 'Search the lists of a group as one',
  method: 'POST',
  body: searchBody,
  handle: (context, { params, body }) => searchGroup(context, params, searchOptions(body)),
});

export const searchOperations = [listByQuery, listByBody, groupByQuery, groupByBody];

async function searchList(
  context: OperationContext,
  params: { readonly account: string; readonly list: string; readonly version: string },
  options: SearchOptions,
): Promise<OperationResult> {
  const startedMs = performance.now();
  if (params.version === LATEST) {
    throw invalidVersion(
      "'latest' is for groups only: a list is searched by the number of a version, such as its current_version.",
    );
  }
  const version = versionNumber(params.version);
  const index = await openIndex(context.services, requireList(context.services, params.account, params.list));
  const lease = index.lease(version);
  try {
    const task: SearchTask = {
      kind: 'search',
      targets: [{ generation: lease.handle }],
      subject: { kind: 'list', name: params.list, version },
      options,
      queryId: uuidv7(),
    };
    return await run(context, task, startedMs);
  } finally {
    lease.release();
  }
}

async function searchGroup(
  context: OperationContext,
  params: { readonly account: string; readonly group: string; readonly version: string },
  options: SearchOptions,
): Promise<OperationResult> {
  const startedMs = performance.now();
  const { services } = context;
  const group = services.catalog.group(params.account, params.group);
  if (group === undefined) throw new ServiceError('group-not-found', `There is no group '${params.group}'.`);
  const { version, lists, isLatest } = groupVersion(group, params.version);
  const members = await Promise.all(
    lists.map(async (member) => ({ member, index: await openIndex(services, memberList(context, group, member)) })),
  );
  const leases: GenerationLease[] = [];
  try {
    const targets: SearchTarget[] = members.map(({ member, index }) => {
      const lease = memberLease(index, member, isLatest);
      leases.push(lease);
      return { generation: lease.handle, listName: member.list };
    });
    const subject = { kind: 'group', name: params.group, version } as const;
    return await run(context, { kind: 'search', targets, subject, options, queryId: uuidv7() }, startedMs);
  } finally {
    for (const lease of leases) lease.release();
  }
}

async function run(
  { services, signal }: OperationContext,
  task: SearchTask,
  startedMs: number,
): Promise<OperationResult> {
  const answer = await services.searchPool.search(task, signal);
  const totalMs = performance.now() - startedMs;
  return {
    status: 200,
    body: answer.body,
    headers: { 'Server-Timing': `search;dur=${answer.workerMs.toFixed(3)}, total;dur=${totalMs.toFixed(3)}` },
  };
}

interface WantedGroupVersion {
  readonly version: number;
  readonly lists: readonly GroupMember[];
  readonly isLatest: boolean;
}

function groupVersion(group: GroupRecord, text: string): WantedGroupVersion {
  if (text === LATEST) return { version: group.current_version, lists: currentMembers(group), isLatest: true };
  const version = versionNumber(text);
  const found = group.versions.find((candidate) => candidate.version === version);
  if (found !== undefined) return { version, lists: found.lists, isLatest: false };
  throw new ServiceError('version-not-found', `The group '${group.name}' has no version ${version}.`);
}

/** A list that was deleted since is missing in old versions of the group only. */
function memberList({ services }: OperationContext, group: GroupRecord, { list }: GroupMember): ListRecord {
  const record = services.catalog.list(group.account, list);
  if (record !== undefined) return record;
  throw new ServiceError(
    'version-not-found',
    `This version of the group '${group.name}' has the list '${list}', which is gone.`,
  );
}

function memberLease(index: ListIndex, { version, pinned_version }: GroupMember, isLatest: boolean): GenerationLease {
  return index.lease(isLatest ? version : pinned_version);
}

function versionNumber(text: string): number {
  if (VERSION.test(text)) return Number(text);
  throw invalidVersion(`A version is a number from 1, not ${JSON.stringify(text)}.`);
}

function invalidVersion(detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ parameter: 'version', detail }] });
}
