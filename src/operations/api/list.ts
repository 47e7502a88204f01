/** `/list`: lists and their settings. */
import { isDeepStrictEqual } from 'node:util';
import { Type } from 'typebox';
import type { ListChange, ListRecord } from '../../catalog/index.js';
import { meantModel } from '../../vectors/index.js';
import type { ListIndex } from '../../index/index.js';
import { ServiceError, uuidv7 } from '../../platform/index.js';
import { compileQueryRules, type QueryRule, type SynonymRule } from '../../search/index.js';
import {
  changeSettings,
  describeList,
  describeListedList,
  describeUnavailable,
  newestVersion,
  oneChangeAtATime,
  openIndex,
  requireList,
  searchSettings,
} from '../dispatch/list-access.js';
import { assertNewFieldNames, changedDefinition, newDefinition } from './list-definition.js';
import { fittingPage, toldPage, type ToldList } from './list-page.js';
import { listedList, listResource, listSettings, readOnlyListMembers, unavailableLists } from './list-schemas.js';
import {
  CONTENT_BODY_BYTES_MAX,
  defineOperation,
  RULES_BODY_PARTS_MAX,
  type OperationContext,
} from '../dispatch/operation.js';
import {
  accountParams,
  listName,
  listParams,
  nextOf,
  nextPage,
  object,
  pageQuery,
  timeSchema,
  wantedPage,
} from './schemas.js';
import type { Services } from '../dispatch/services.js';
import { finishWork } from '../dispatch/unfinished-work.js';
import { checkedSynonymRules } from './synonym-rules.js';
import { deleteUntouched } from './untouched-list.js';

const CALLERS = ['key', 'console', 'cli'] as const;

const list = defineOperation({
  name: 'list.list',
  summary: 'List the lists of an account',
  description:
    'For keys with the scope `account`; with another scope, `GET /account` names the list or group of the key. A page ends after `size` lists, or earlier, before its JSON exceeds 8,000,000 characters: go on until `next` is absent. `rules=false` leaves out `query_rules` and `synonym_rules`.',
  method: 'GET',
  path: '/list/{account}',
  permission: 'list:read',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  query: object({
    ...pageQuery.properties,
    rules: Type.Optional(
      Type.Boolean({
        description:
          'Whether lists are returned with `synonym_rules` and `query_rules`, which can be megabytes per list; default true',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The lists, sorted by name',
      schema: object({
        lists: Type.Array(listedList, { description: 'The lists' }),
        unavailable: Type.Optional(unavailableLists),
        next: nextPage,
      }),
    },
  },
  async handle(context, { params, query }) {
    const { rules = true } = query;
    const page = fittingPage(context.services.catalog.listPage(params.account, wantedPage(query)), { rules });
    const { entries, next } = await toldPage(page, (each) => toldList(context, each, rules));
    const lists = entries.flatMap(({ described }) => described ?? []);
    const unavailable = entries.flatMap((each) => each.unavailable ?? []);
    const notTold = unavailable.length === 0 ? {} : { unavailable };
    return { status: 200, body: { lists, ...notTold, ...nextOf({ next }) } };
  },
});

/**
 * Describes a list for a listing. A list that cannot be opened is reported as unavailable; for one that was just
 * deleted, only its name is returned.
 */
async function toldList(context: OperationContext, list: ListRecord, rules: boolean): Promise<ToldList> {
  const { name } = list;
  try {
    const described = await describeListedList(context.services, list);
    if (described === undefined) return { name };
    const whole = { ...described, ...(await context.addedToList?.(list)) };
    if (rules) return { name, described: whole };
    const { query_rules: _queryRules, synonym_rules: _synonymRules, ...others } = whole;
    return { name, described: others };
  } catch (error) {
    return { name, unavailable: describeUnavailable(list, error) };
  }
}

const create = defineOperation({
  name: 'list.create',
  summary: 'Create a list',
  description:
    'Creates the list with version 1. If no field is defined, the fields are inferred from the first records: strings become searchable fields; numbers, booleans, dates and short repeating strings become facets.',
  method: 'POST',
  path: '/list/{account}',
  permission: 'list:create',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  bodyPartsMax: RULES_BODY_PARTS_MAX,
  body: object({ name: listName, ...listSettings }),
  responses: { 201: { description: 'The list', schema: listResource } },
  errors: ['name-exists', 'unprocessable', 'plan-limit', 'storage-full', 'limit-reached'],
  async handle({ services }, { params: { account }, body }) {
    const settings = await settingsOf(body);
    assertModelKnown(services, account, settings.model);
    assertRerankerKnown(services, account, settings.reranker);
    assertNewFieldNames(body);
    const definition = newDefinition({ language: NEW_LIST.language, ...body });
    if (body.query_rules !== undefined) compileQueryRules(body.query_rules, definition);
    const record = { ...NEW_LIST, ...settings, account, name: body.name };
    const created = await addList(services, record, (id) =>
      services.indexes.create(id, searchSettings(record), definition),
    );
    return { status: 201, body: await describeList(services, created) };
  },
});

const read = defineOperation({
  name: 'list.read',
  summary: 'Read a list and its versions',
  method: 'GET',
  path: '/list/{account}/{list}',
  permission: 'list:read',
  callers: CALLERS,
  target: 'list',
  params: listParams,
  responses: { 200: { description: 'The list', schema: listResource } },
  async handle({ services }, { params }) {
    return { status: 200, body: await describeList(services, requireList(services, params.account, params.list)) };
  },
});

const update = defineOperation({
  name: 'list.update',
  summary: 'Change settings or fields of a list',
  description:
    'Members that are not given keep their value; `searchable_fields`, `facets` and `resources` are each replaced as a whole. A change of fields builds the next version from the records in the background, while the current version is searched; until it is done, the new version has the state `building`. Other settings take effect with the next search. Read-only members are accepted, so that an answer of GET can be sent back; they change nothing.\n\nA new facet converts the values of the records to its type: `"12"` becomes a number for a facet of numbers, `7` becomes the string `"7"`, and `"1"` becomes `true` for a facet of booleans. Conversion is permanent, even if the type is changed back: spaces around a number and zeros at its end (`"12.50"`) are lost. A value that does not fit the type, or that would lose more (`"007"`, an integer of more than 15 digits), is kept but not indexed, and counted under `unfit` of the version.',
  method: 'PUT',
  path: '/list/{account}/{list}',
  permission: 'list:update',
  callers: CALLERS,
  target: 'list',
  params: listParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  bodyPartsMax: RULES_BODY_PARTS_MAX,
  body: object({ name: Type.Optional(listName), ...listSettings, ...readOnlyListMembers }),
  responses: { 200: { description: 'The list', schema: listResource } },
  errors: ['unprocessable', 'storage-full', 'limit-reached'],
  handle: ({ services }, { params: { account, list: name }, body }) =>
    oneChangeAtATime(services, { account, name }, async () => {
      if (body.name !== undefined && body.name !== name) {
        throw invalidMember('name', 'A list cannot be renamed: clone it under the new name, and delete this one.');
      }
      const stored = requireList(services, account, name);
      const settings = await settingsOf(body, stored);
      assertModelKnown(services, account, settings.model);
      assertRerankerKnown(services, account, settings.reranker);
      const index = await openIndex(services, stored);
      const before = newestVersion(index).definition;
      assertNewFieldNames(body, before);
      const after = changedDefinition(before, body);
      // Unchanged rules are accepted, even if they refer to a facet that is gone.
      if (!isDeepStrictEqual(body.query_rules, stored.query_rules))
        compileQueryRules(body.query_rules ?? [], after, stored.query_rules as readonly QueryRule[]);
      const fields = after === before ? undefined : after;
      const record = await changeSettings(services, { list: stored, index }, settings, fields);
      return { status: 200, body: await describeList(services, record) };
    }),
});

const remove = defineOperation({
  name: 'list.delete',
  summary: 'Delete a list with its records',
  description:
    'Deletes the list with its records and analytics. API keys whose scope is this list are deleted. Each group that has the list as a member gets a new version without it. This cannot be undone. With `untouched_since`, a program that has created a list and could not fill it deletes it only if nobody else uses it by now.',
  method: 'DELETE',
  path: '/list/{account}/{list}',
  permission: 'list:delete',
  callers: CALLERS,
  target: 'list',
  params: listParams,
  query: object({
    untouched_since: Type.Optional(
      timeSchema(
        '`created_utc` of the list. The list is deleted only if it was created then, no record was written to it since, its settings and fields were not changed, and no group, API key or source of records depends on it; otherwise the answer is 409 `conflict`',
      ),
    ),
  }),
  responses: { 204: { description: 'The list was deleted', schema: null } },
  errors: ['conflict', 'storage-full'],
  handle: ({ services }, { params: { account, list: name }, query }) =>
    oneChangeAtATime(services, { account, name }, async () => {
      const stored = requireList(services, account, name);
      if (query.untouched_since !== undefined) {
        await deleteUntouched(services, stored, query.untouched_since);
        return { status: 204 };
      }
      // Keys are deleted first: if the process died after deleting the list, they would become valid for a new list of
      // this name.
      await services.access.deleteKeysOf(account, 'list', name);
      const remains = await services.catalog.deleteList(account, name);
      await services.access.deleteKeysOf(account, 'list', name);
      for (const work of remains) await finishWork(services, work);
      return { status: 204 };
    }),
});

const clone = defineOperation({
  name: 'list.clone',
  summary: 'Copy a list under another name',
  description: 'Copies settings, fields, rules, and the records of the current version. Older versions are not copied.',
  method: 'POST',
  path: '/list/{account}/{list}/clone',
  permission: 'list:create',
  callers: CALLERS,
  // The copy is a new list of the account, which a key of one list or group may not create.
  target: 'account',
  params: listParams,
  body: object({ name: listName }),
  responses: { 201: { description: 'The new list', schema: listResource } },
  errors: ['list-not-found', 'list-missing', 'name-exists', 'plan-limit', 'storage-full', 'limit-reached'],
  async handle({ services }, { params, body }) {
    const source = requireList(services, params.account, params.list);
    const { id: _id, created_utc: _created, modified_utc: _modified, ...settings } = source;
    const record = { ...settings, name: body.name };
    await openIndex(services, source);
    const created = await addList(services, record, (id) =>
      services.indexes.clone(source.id, id, searchSettings(record)),
    );
    return { status: 201, body: await describeList(services, created) };
  },
});

export const listOperations = [list, create, read, update, remove, clone];

const NEW_LIST = {
  engine: 'managed',
  language: 'en',
  query_rules: [],
  synonym_rules: [],
  model: null,
  reranker: null,
  suggestions: { require_click: false },
};

/**
 * Adds a list. First records that the index is about to be created, then creates it, then adds the list to the
 * catalogue: after a crash in between, the next start knows the folder by name.
 */
function addList(
  services: Services,
  record: Omit<ListRecord, 'id' | 'created_utc' | 'modified_utc'>,
  makeIndex: (id: string) => Promise<ListIndex>,
): Promise<ListRecord> {
  return oneChangeAtATime(services, record, async () => {
    if (services.catalog.list(record.account, record.name) !== undefined) {
      throw new ServiceError('name-exists', `There is already a list '${record.name}'.`);
    }
    const id = uuidv7();
    const { account, name } = record;
    const begun = await services.catalog.beginList({ id, account, name });
    try {
      const index = await makeIndex(id);
      const created = await services.catalog.createList({ ...record, id }, newestVersion(index).definition);
      await index.keepEntry();
      return created;
    } catch (error) {
      await finishWork(services, begun);
      throw error;
    }
  });
}

interface SettingsInput {
  readonly engine?: string;
  readonly language?: string;
  readonly query_rules?: readonly QueryRule[];
  readonly synonym_rules?: readonly SynonymRule[];
  readonly model?: string | null;
  readonly reranker?: string | null;
  readonly suggestions?: { readonly require_click: boolean };
  /** Set by `extended-lists.ts`, never by a client. */
  readonly features?: Readonly<Record<string, unknown>>;
}

/** Returns the settings among the members, checking that this release supports them. */
async function settingsOf(body: SettingsInput, stored?: ListRecord): Promise<ListChange> {
  const { engine, language, query_rules, synonym_rules, model, reranker, suggestions } = body;
  if (engine !== undefined && engine !== 'managed') {
    throw new ServiceError('unprocessable', `There is no engine '${engine}': this service has only 'managed'.`);
  }
  return {
    ...(language === undefined ? {} : { language }),
    ...(query_rules === undefined ? {} : { query_rules }),
    ...(synonym_rules === undefined
      ? {}
      : { synonym_rules: await checkedSynonymRules(synonym_rules, '/synonym_rules', stored) }),
    ...(suggestions === undefined ? {} : { suggestions }),
    ...(model === undefined ? {} : { model }),
    ...(reranker === undefined ? {} : { reranker }),
    ...(body.features === undefined ? {} : { features: body.features }),
  };
}

function assertModelKnown({ indexes }: Services, account: string, model: string | null | undefined): void {
  if (typeof model !== 'string' || indexes.models.knows(account, model)) return;
  const detail = `There is no model '${model}' in the account '${account}'. Every account has 'built-in', and 'own', which uses vectors that are written with the records.`;
  const meant = meantModel(indexes.models, account, model, (name) => indexes.models.knows(account, name));
  throw new ServiceError('unprocessable', detail, { errors: [{ pointer: '/model', detail }], meant });
}

/** Throws `unprocessable`. */
export function assertRerankerKnown({ indexes }: Services, account: string, name: string | null | undefined): void {
  if (typeof name !== 'string' || indexes.models.reranker(account, name) !== undefined) return;
  const detail = `There is no reranker '${name}' in the account '${account}'.`;
  const isReranker = (other: string) => indexes.models.reranker(account, other) !== undefined;
  const meant = meantModel(indexes.models, account, name, isReranker);
  throw new ServiceError('unprocessable', detail, { errors: [{ pointer: '/reranker', detail }], meant });
}

function invalidMember(member: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ pointer: `/${member}`, detail }] });
}
