/** `/list-group`: groups of lists that are searched as one. */
import { Type } from 'typebox';
import { reachesGroupOnly, reaches, type Caller } from '../../access/index.js';
import { currentMembers, presentMembers, type GroupMember, type GroupRecord } from '../../catalog/index.js';
import { ServiceError, type ErrorPlace } from '../../platform/index.js';
import { openIndex, requireList } from '../dispatch/list-access.js';
import { CONTENT_BODY_BYTES_MAX, defineOperation } from '../dispatch/operation.js';
import {
  accountName,
  accountParams,
  groupName,
  groupParams,
  listName,
  nextOf,
  nextPage,
  nullable,
  named,
  object,
  pageQuery,
  timeSchema,
  wantedPage,
} from './schemas.js';
import { assertRerankerKnown } from './list.js';
import { fittingGroupPage } from './list-page.js';
import { requireGroup } from './search-targets.js';
import type { Services } from '../dispatch/services.js';
import { finishWork } from '../dispatch/unfinished-work.js';

const GROUP_LISTS_MAX = 100;
const CALLERS = ['key', 'console', 'cli'] as const;

const version = Type.Integer({ minimum: 1, description: 'Number of the version' });
const READ_ONLY = 'Read-only; ignored';
const memberInput = object({
  list: listName,
  version: Type.Optional(
    Type.Integer({
      minimum: 1,
      description:
        'Version of the list to search. Without it, a search of `latest` uses the current version of the list at that time',
    }),
  ),
});
const members = Type.Array(memberInput, {
  maxItems: GROUP_LISTS_MAX,
  description: 'Lists that are members of the group',
  examples: [[{ list: 'films' }, { list: 'books', version: 3 }]],
});
const rerankerName = nullable(Type.String({ minLength: 1, maxLength: 200 }), {
  description:
    'Name of the model that reorders the top results of a search. Null: results are in the order of their scores',
});

const listVersion = Type.Integer({ minimum: 1, description: 'Number of the version of the list' });
const groupVersionResource = named(
  'GroupVersion',
  {
    version,
    lists: Type.Array(object({ list: listName, version: listVersion }), {
      description: 'The lists, and the version of each, that a search of this version uses',
    }),
    created_utc: timeSchema('Time at which this version was created'),
  },
  { description: 'A version of a group: the lists that it had from a certain time on' },
);

const groupResource = named(
  'Group',
  {
    name: groupName,
    account: accountName,
    lists: members,
    reranker: rerankerName,
    current_version: Type.Integer({ minimum: 1, description: 'Number of the version that `latest` stands for' }),
    versions: Type.Array(groupVersionResource, {
      description: 'Versions of the group, oldest first. The newest 100 are kept',
    }),
    created_utc: timeSchema('Time at which the group was created'),
    modified_utc: timeSchema('Time of the last change'),
  },
  { description: 'A group: several lists that are searched as one' },
);

const list = defineOperation({
  name: 'list-group.list',
  summary: 'List the groups of an account',
  method: 'GET',
  path: '/list-group/{account}',
  permission: 'list-group:read',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  query: pageQuery,
  responses: {
    200: {
      description: 'The groups, sorted by name',
      schema: object({ groups: Type.Array(groupResource, { description: 'The groups' }), next: nextPage }),
    },
  },
  handle({ services, caller }, { params, query }) {
    const page = fittingGroupPage(services.catalog.groupPage(params.account, wantedPage(query)));
    return {
      status: 200,
      body: { groups: page.entries.map((group) => describeGroup(group, caller)), ...nextOf(page) },
    };
  },
});

const create = defineOperation({
  name: 'list-group.create',
  summary: 'Create a group of lists',
  description: 'A group may have no lists; a search of it then finds nothing.',
  method: 'POST',
  path: '/list-group/{account}',
  permission: 'list-group:create',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  body: object({ name: groupName, lists: Type.Optional(members), reranker: Type.Optional(rerankerName) }),
  responses: { 201: { description: 'The group', schema: groupResource } },
  errors: [
    'name-exists',
    'list-not-found',
    'list-missing',
    'version-not-found',
    'unprocessable',
    'storage-full',
    'limit-reached',
  ],
  async handle({ services, caller }, { params: { account }, body }) {
    assertRerankerKnown(services, account, body.reranker);
    const lists = await pinned(services, account, body.lists ?? []);
    const group = await services.catalog.createGroup(account, body.name, { reranker: body.reranker ?? null, lists });
    return { status: 201, body: describeGroup(group, caller) };
  },
});

const read = defineOperation({
  name: 'list-group.read',
  summary: 'Read a group and its versions',
  description: 'For a key whose scope is the group, each version contains only the lists that are members now.',
  method: 'GET',
  path: '/list-group/{account}/{group}',
  permission: 'list-group:read',
  callers: CALLERS,
  target: 'group',
  params: groupParams,
  responses: { 200: { description: 'The group', schema: groupResource } },
  handle: ({ services, caller }, { params }) => ({
    status: 200,
    body: describeGroup(requireGroup(services, params), caller),
  }),
});

const update = defineOperation({
  name: 'list-group.update',
  summary: 'Change the lists of a group',
  description:
    'If the lists change, a new version is created and becomes the current one. Members that are not given keep their value. Read-only members are accepted, so that an answer of GET can be sent back; they change nothing. A key whose scope is the group may remove lists from it, but not add any, because that would widen its own reach.',
  method: 'PUT',
  path: '/list-group/{account}/{group}',
  permission: 'list-group:update',
  callers: CALLERS,
  target: 'group',
  params: groupParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: object({
    name: Type.Optional(groupName),
    lists: Type.Optional(members),
    reranker: Type.Optional(rerankerName),
    account: Type.Optional(accountName),
    current_version: Type.Optional(Type.Integer({ minimum: 1, description: READ_ONLY })),
    versions: Type.Optional(Type.Array(groupVersionResource, { description: READ_ONLY })),
    created_utc: Type.Optional(timeSchema(READ_ONLY)),
    modified_utc: Type.Optional(timeSchema(READ_ONLY)),
  }),
  responses: { 200: { description: 'The group', schema: groupResource } },
  errors: [
    'list-not-found',
    'version-not-found',
    'wider-than-caller',
    'unprocessable',
    'storage-full',
    'limit-reached',
  ],
  async handle({ services, caller }, { params: { account, group: name }, body }) {
    if (body.name !== undefined && body.name !== name) {
      throw invalid([
        { pointer: '/name', detail: 'A group cannot be renamed: create another one, and delete this one.' },
      ]);
    }
    assertRerankerKnown(services, account, body.reranker);
    const { lists: given, reranker } = body;
    if (given === undefined && reranker === undefined)
      return { status: 200, body: describeGroup(requireGroup(services, { account, group: name }), caller) };
    if (given !== undefined) assertNoWider(services, caller, account, given);
    const lists = given === undefined ? {} : { lists: await pinned(services, account, given) };
    const change = { ...lists, ...(reranker === undefined ? {} : { reranker }) };
    return { status: 200, body: describeGroup(await services.catalog.updateGroup(account, name, change), caller) };
  },
});

const remove = defineOperation({
  name: 'list-group.delete',
  summary: 'Delete a group',
  description: 'Deletes the group and its analytics. Its lists remain. API keys whose scope is this group are deleted.',
  method: 'DELETE',
  path: '/list-group/{account}/{group}',
  permission: 'list-group:delete',
  callers: CALLERS,
  target: 'group',
  params: groupParams,
  responses: { 204: { description: 'The group was deleted', schema: null } },
  errors: ['storage-full'],
  async handle({ services }, { params: { account, group } }) {
    requireGroup(services, { account, group });
    await services.access.deleteKeysOf(account, 'group', group);
    const remains = await services.catalog.deleteGroup(account, group);
    await services.access.deleteKeysOf(account, 'group', group);
    await finishWork(services, remains);
    return { status: 204 };
  },
});

export const listGroupOperations = [list, create, read, update, remove];

/**
 * Describes a group as the caller may see it: a key of the group does not see former members. `fittingGroupPage`
 * estimates the length of this description, so keep both in step.
 */
export function describeGroup(group: GroupRecord, caller: Caller) {
  const { name, account, reranker: model, current_version, created_utc, modified_utc } = group;
  return {
    name,
    account,
    lists: currentMembers(group).map(({ list: member, version: given }) =>
      given === undefined ? { list: member } : { list: member, version: given },
    ),
    reranker: model,
    current_version,
    versions: group.versions.map(({ version: number, lists, created_utc: made }) => ({
      version: number,
      lists: (reachesGroupOnly(caller) ? presentMembers(group, lists) : lists).map(
        ({ list: member, pinned_version }) => ({ list: member, version: pinned_version }),
      ),
      created_utc: made,
    })),
    created_utc,
    modified_utc,
  };
}

/**
 * Returns the members with their current versions, unless they name one. Throws for a missing list or version, and for
 * a list named twice.
 */
async function pinned(
  services: Services,
  account: string,
  lists: readonly { list: string; version?: number }[],
): Promise<readonly GroupMember[]> {
  const twice = lists.findIndex(
    ({ list: name }, position) => lists.findIndex((other) => other.list === name) < position,
  );
  if (twice >= 0) {
    throw invalid([
      { pointer: `/lists/${twice}/list`, detail: `The list '${lists[twice]?.list}' is in the group twice.` },
    ]);
  }
  return Promise.all(
    lists.map(async (member) => {
      const record = requireList(services, account, member.list);
      const index = await openIndex(services, record);
      const wanted = member.version ?? index.currentVersion;
      if (!index.versions().some(({ version: number }) => number === wanted)) {
        throw new ServiceError('version-not-found', `The list '${member.list}' has no version ${wanted}.`);
      }
      return { ...member, list_id: record.id, pinned_version: wanted };
    }),
  );
}

function assertNoWider(services: Services, caller: Caller, account: string, lists: readonly { list: string }[]): void {
  const outside = lists.find(({ list: name }) => !reaches(caller, { kind: 'list', account, name }, services.catalog));
  if (outside === undefined) return;
  throw new ServiceError(
    'wider-than-caller',
    `A key whose scope is the group cannot add the list '${outside.list}' to it.`,
  );
}

function invalid(errors: readonly ErrorPlace[]): ServiceError {
  return new ServiceError('invalid-parameter', errors[0]?.detail ?? '', { errors });
}
