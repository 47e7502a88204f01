/** `/search-result`: the records of a list, one at a time and by pages. */
import { Type } from 'typebox';
import type { WriteRequest, WriteResult } from '../index/index.js';
import { SEARCH_SIZE_DEFAULT, SEARCH_SIZE_MAX, ServiceError } from '../platform/index.js';
import { readRecordInput } from '../records/index.js';
import { filterPlan } from '../search/index.js';
import { requireIndex } from './list-access.js';
import { CONTENT_BODY_BYTES_MAX, defineOperation } from './operation.js';
import { recordId, recordInput, recordResource } from './record-schemas.js';
import { accountName, listName, listParams, object } from './schemas.js';

const FILTER_CHARACTERS_MAX = 100_000;

const listPath = '/search-result/{account}/{list}';
const recordPath = `${listPath}/{id}`;
const recordParams = object({ account: accountName, list: listName, id: recordId });
const common = { callers: ['key', 'console', 'cli'], target: 'list' } as const;

const page = defineOperation({
  ...common,
  name: 'search-result.list',
  summary: 'Page through all records of a list',
  description: 'In the order in which they are stored, from the current version.',
  method: 'GET',
  path: listPath,
  permission: 'search-result:read',
  params: listParams,
  query: object({
    skip: Type.Optional(
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'Records to pass over; default 0' }),
    ),
    size: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SEARCH_SIZE_MAX,
        description: `Records to answer; default ${SEARCH_SIZE_DEFAULT}`,
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The records of the page',
      schema: object({
        total_count: Type.Integer({ minimum: 0, description: 'Records of the list' }),
        results: Type.Array(recordResource),
      }),
    },
  },
  async handle({ services }, { params, query }) {
    const index = await requireIndex(services, params);
    const { total, records } = await index.page(query.skip ?? 0, query.size ?? SEARCH_SIZE_DEFAULT);
    return { status: 200, body: { total_count: total, results: records } };
  },
});

const create = defineOperation({
  ...common,
  name: 'search-result.create',
  summary: 'Add a record, or replace the one of this name',
  description: 'Answered when the record is on disk and the next search sees it.',
  method: 'POST',
  path: listPath,
  permission: 'search-result:create',
  params: listParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: recordInput,
  responses: {
    200: { description: 'The record that replaced one of the same name', schema: recordResource },
    201: { description: 'The new record', schema: recordResource },
  },
  errors: ['invalid-record', 'overloaded', 'storage-full'],
  async handle({ services }, { params, body }) {
    const request: WriteRequest = { kind: 'put', ...writeBody(body) };
    const index = await requireIndex(services, params);
    return answer(await index.write(request));
  },
});

const read = defineOperation({
  ...common,
  name: 'search-result.read',
  summary: 'Read a record',
  method: 'GET',
  path: recordPath,
  permission: 'search-result:read',
  params: recordParams,
  responses: { 200: { description: 'The record', schema: recordResource } },
  errors: ['record-not-found'],
  async handle({ services }, { params }) {
    const index = await requireIndex(services, params);
    const record = await index.read(params.id);
    if (record !== undefined) return { status: 200, body: record };
    throw new ServiceError('record-not-found', `The list '${params.list}' has no record with this id.`);
  },
});

const replace = defineOperation({
  ...common,
  name: 'search-result.update',
  summary: 'Replace a record',
  description: 'All fields are replaced; another `name` renames the record, and no name keeps the one that it has.',
  method: 'PUT',
  path: recordPath,
  permission: 'search-result:update',
  params: recordParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: recordInput,
  responses: { 200: { description: 'The record', schema: recordResource } },
  errors: ['record-not-found', 'invalid-record', 'name-exists', 'overloaded', 'storage-full'],
  async handle({ services }, { params, body }) {
    const request: WriteRequest = { kind: 'replace', id: params.id, ...writeBody(body) };
    const index = await requireIndex(services, params);
    return answer(await index.write(request));
  },
});

const patch = defineOperation({
  ...common,
  name: 'search-result.patch',
  summary: 'Change some fields of a record',
  description: 'The fields that are given are set, those given as null are removed, all others stay.',
  method: 'PATCH',
  path: recordPath,
  permission: 'search-result:update',
  params: recordParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: recordInput,
  responses: { 200: { description: 'The record', schema: recordResource } },
  errors: ['record-not-found', 'invalid-record', 'name-exists', 'overloaded', 'storage-full'],
  async handle({ services }, { params, body }) {
    const request: WriteRequest = { kind: 'patch', id: params.id, ...writeBody(body) };
    const index = await requireIndex(services, params);
    return answer(await index.write(request));
  },
});

const remove = defineOperation({
  ...common,
  name: 'search-result.delete',
  summary: 'Remove a record',
  method: 'DELETE',
  path: recordPath,
  permission: 'search-result:delete',
  params: recordParams,
  responses: { 204: { description: 'The record is gone', schema: null } },
  errors: ['record-not-found', 'overloaded', 'storage-full'],
  async handle({ services }, { params }) {
    const index = await requireIndex(services, params);
    await index.write({ kind: 'delete', id: params.id });
    return { status: 204 };
  },
});

const removeMatching = defineOperation({
  ...common,
  name: 'search-result.delete-matching',
  summary: 'Remove all records that a filter matches',
  method: 'DELETE',
  path: listPath,
  permission: 'search-result:delete',
  params: listParams,
  query: object({
    filter: Type.String({
      minLength: 1,
      maxLength: FILTER_CHARACTERS_MAX,
      description: 'As in searches; required, so that nothing is removed by leaving it out',
      examples: ['year < 1980'],
    }),
  }),
  responses: {
    200: {
      description: 'How many records are gone',
      schema: object({
        deleted: Type.Integer({ minimum: 0, description: 'Records that were removed' }),
        took_ms: Type.Number({ minimum: 0, description: 'Milliseconds' }),
      }),
    },
  },
  errors: ['invalid-filter', 'overloaded', 'storage-full'],
  async handle({ services }, { params, query }) {
    const startedMs = performance.now();
    const index = await requireIndex(services, params);
    const deleted = await index.deleteMatching((definition) => filterPlan(query.filter, definition));
    return { status: 200, body: { deleted, took_ms: roundedMs(performance.now() - startedMs) } };
  },
});

export const searchResultOperations = [page, create, read, replace, patch, remove, removeMatching];

/** Milliseconds to the microsecond. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Throws `invalid-record`. */
function writeBody(body: unknown) {
  const { name, fields, flat, asOfMs } = readRecordInput(body);
  const { name: _name, ...withoutName } = fields;
  return {
    name,
    fields: flat ? withoutName : fields,
    ...(asOfMs === undefined ? {} : { asOf: new Date(asOfMs).toISOString() }),
  };
}

function answer({ outcome, record }: WriteResult) {
  return { status: outcome === 'created' ? 201 : 200, body: record };
}
