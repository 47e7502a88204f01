/** `/search-result`: the records of a list, one at a time and by pages. */
import { Type } from 'typebox';
import { reachesFiles, type Caller } from '../../access/index.js';
import type { WriteRequest, WriteResult } from '../../index/index.js';
import {
  RECORDS_PAGE_BYTES_MAX,
  SEARCH_SIZE_DEFAULT,
  SEARCH_SIZE_MAX,
  ServiceError,
  QUERY_OPTION_CHARACTERS_MAX,
} from '../../platform/index.js';
import { fittingFields, invalidRecord, readRecordInput } from '../../records/index.js';
import { filterPlan, type SearchTarget } from '../../search/index.js';
import type { SearchPoolTask } from '../../workers/index.js';
import { requireIndex } from '../dispatch/list-access.js';
import {
  CONTENT_BODY_BYTES_MAX,
  defineOperation,
  type OperationContext,
  type OperationResult,
} from '../dispatch/operation.js';
import { damagedRecord, givenRecordId, recordInput, recordResource, recordWithVectors } from './record-schemas.js';
import { accountName, listName, listParams, named, object, patterned } from './schemas.js';

/** Each page behind it would cost as much as all pages before. */
const SKIP_MAX = 10_000;
/** A smaller page would hold hardly anything. */
const RECORDS_BYTES_MIN = 1024;

const listPath = '/search-result/{account}/{list}';
const recordPath = `${listPath}/{id}`;
const recordParams = object({ account: accountName, list: listName, id: givenRecordId });
/** The same option as for hits of searches. */
const fieldsRoom = object({
  fields_bytes_max: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description:
        'Most bytes of JSON for the fields of the record. Fields that do not fit are left out and named in `fields_left_out`; default: no limit',
    }),
  ),
});
const recordWithRoom = named(
  'RecordPart',
  {
    ...recordResource.properties,
    fields_left_out: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Names of the fields that were left out because of `fields_bytes_max`',
      }),
    ),
  },
  { description: 'A record, without the fields that did not fit into `fields_bytes_max`' },
);
const common = { callers: ['key', 'console', 'cli'], target: 'list' } as const;

const page = defineOperation({
  ...common,
  name: 'search-result.list',
  summary: 'Page through all records of a list',
  description:
    'Returns the records of the current version, in the order in which they are stored. A page ends after `size` records or at `bytes_max`. `next` is the value of `after` for the next page, and is absent on the last one. Even if records are written or deleted between two pages, each record that remains is returned exactly once. A record that is damaged, or longer than the given `bytes_max`, is returned as an entry with an `error`.',
  method: 'GET',
  path: listPath,
  permission: 'search-result:read',
  params: listParams,
  query: object({
    name: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          'Returns only the record with exactly this name, or none. Its `id` is what other calls change and delete it by',
        examples: ['northern-gannet'],
      }),
    ),
    after: Type.Optional(
      patterned('^[0-9]{1,10}$', '`next` of the page before, which is a number', {
        description: '`next` of the previous page; without it, the page begins with the first record',
        examples: ['1000'],
      }),
    ),
    skip: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: `Number of records to skip; default 0. More than ${SKIP_MAX} are refused (422): use \`after\` to go further`,
      }),
    ),
    size: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SEARCH_SIZE_MAX,
        description: `Number of records to return; default ${SEARCH_SIZE_DEFAULT}`,
      }),
    ),
    bytes_max: Type.Optional(
      Type.Integer({
        minimum: RECORDS_BYTES_MIN,
        maximum: RECORDS_PAGE_BYTES_MAX,
        description: `Most bytes of the records on a page as they are stored, including their vectors if these are returned; default ${RECORDS_PAGE_BYTES_MAX}. With the default, a longer record is returned alone on a page`,
      }),
    ),
    vectors: Type.Optional(
      Type.Boolean({
        description:
          'Whether records are returned with the vectors that they are found by, in the shape that imports accept: `vector`, or `vectors` for several passages; default false',
      }),
    ),
  }),
  responses: {
    200: {
      description: 'A page of records',
      schema: object({
        total_count: Type.Integer({ minimum: 0, description: 'Number of records in the current version of the list' }),
        results: Type.Array(Type.Union([recordWithVectors, damagedRecord]), {
          description: 'The records; an entry with `error` stands for one that cannot be returned',
        }),
        next: Type.Optional(
          Type.String({ description: 'Value of `after` for the next page; absent on the last page' }),
        ),
      }),
    },
  },
  errors: ['unprocessable', 'answer-too-large', 'overloaded'],
  handle(context, { params, query }) {
    const { name, after = '-1', skip = 0, size = SEARCH_SIZE_DEFAULT, vectors = false } = query;
    if (name !== undefined && (query.after !== undefined || skip > 0)) {
      const detail =
        'With name, at most one record is returned, so there are no further pages: leave out after and skip.';
      throw new ServiceError('unprocessable', detail, { errors: [{ parameter: 'name', detail }] });
    }
    if (skip > SKIP_MAX) {
      const detail = `skip can be at most ${SKIP_MAX}. To read further, give after: the next of the previous page.`;
      throw new ServiceError('unprocessable', detail, { errors: [{ parameter: 'skip', detail }] });
    }
    return readRecords(context, params, (target) => ({
      kind: 'records',
      target,
      after: Number(after),
      skip,
      size,
      ...(name === undefined ? {} : { name }),
      ...(query.bytes_max === undefined ? {} : { bytesMax: query.bytes_max }),
      vectors,
    }));
  },
});

const create = defineOperation({
  ...common,
  name: 'search-result.create',
  summary: 'Add a record, or replace the one with this name',
  description:
    'If the list has a record of the same name, it is replaced. The answer comes when the record is on disk and the next search finds it.',
  method: 'POST',
  path: listPath,
  permission: 'search-result:create',
  params: listParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: recordInput,
  responses: {
    200: { description: 'The record; it replaced a record of the same name', schema: recordResource },
    201: { description: 'The new record', schema: recordResource },
  },
  errors: ['invalid-record', 'conflict', 'unprocessable', 'overloaded', 'plan-limit', 'storage-full'],
  async handle({ caller, services }, { params, body }) {
    const keepsLinks = !reachesFiles(caller, params.account, services.catalog);
    const request: WriteRequest = { kind: 'put', ...writeBody(body), keepsLinks };
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
  query: fieldsRoom,
  responses: { 200: { description: 'The record', schema: recordWithRoom } },
  errors: ['record-not-found', 'answer-too-large', 'overloaded'],
  handle: (context, { params, query }) =>
    readRecords(context, params, (target) => ({
      kind: 'record',
      target,
      id: params.id,
      ...(query.fields_bytes_max === undefined ? {} : { fieldsBytesMax: query.fields_bytes_max }),
    })),
});

const replace = defineOperation({
  ...common,
  name: 'search-result.update',
  summary: 'Replace a record',
  description: 'Replaces all fields of the record. Another `name` renames it; without a name, it keeps its name.',
  method: 'PUT',
  path: recordPath,
  permission: 'search-result:update',
  params: recordParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: recordInput,
  responses: { 200: { description: 'The record', schema: recordResource } },
  errors: ['record-not-found', 'invalid-record', 'name-exists', 'overloaded', 'plan-limit', 'storage-full'],
  async handle({ caller, services }, { params, body }) {
    const keepsLinks = !reachesFiles(caller, params.account, services.catalog);
    const request: WriteRequest = {
      kind: 'replace',
      ...changed(caller, params),
      ...writeBody(body, params.id),
      keepsLinks,
    };
    const index = await requireIndex(services, params);
    return answer(await index.write(request));
  },
});

const patch = defineOperation({
  ...common,
  name: 'search-result.patch',
  summary: 'Change some fields of a record',
  description: 'Sets the given fields, removes fields that are given as null, and keeps all others.',
  method: 'PATCH',
  path: recordPath,
  permission: 'search-result:update',
  params: recordParams,
  query: fieldsRoom,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: recordInput,
  responses: { 200: { description: 'The record', schema: recordWithRoom } },
  errors: ['record-not-found', 'invalid-record', 'name-exists', 'overloaded', 'plan-limit', 'storage-full'],
  async handle({ caller, services }, { params, query, body }) {
    const keepsLinks = !reachesFiles(caller, params.account, services.catalog);
    const request: WriteRequest = {
      kind: 'patch',
      ...changed(caller, params),
      ...writeBody(body, params.id),
      keepsLinks,
    };
    const index = await requireIndex(services, params);
    const { status, body: record } = answer(await index.write(request));
    return { status, body: withinRoom(record, query.fields_bytes_max) };
  },
});

const remove = defineOperation({
  ...common,
  name: 'search-result.delete',
  summary: 'Delete a record',
  method: 'DELETE',
  path: recordPath,
  permission: 'search-result:delete',
  params: recordParams,
  responses: { 204: { description: 'The record was deleted', schema: null } },
  errors: ['record-not-found', 'overloaded', 'storage-full'],
  async handle({ caller, services }, { params }) {
    const index = await requireIndex(services, params);
    await index.write({ kind: 'delete', ...changed(caller, params) });
    return { status: 204 };
  },
});

const removeMatching = defineOperation({
  ...common,
  name: 'search-result.delete-matching',
  summary: 'Delete all records that match a filter',
  method: 'DELETE',
  path: listPath,
  permission: 'search-result:delete',
  params: listParams,
  query: object({
    filter: Type.String({
      minLength: 1,
      maxLength: QUERY_OPTION_CHARACTERS_MAX,
      description: 'Filter expression as in searches. Required, so that no request deletes all records by accident',
      examples: ['year < 1980'],
    }),
  }),
  responses: {
    200: {
      description: 'The records were deleted',
      schema: object({
        deleted: Type.Integer({ minimum: 0, description: 'Number of records that were deleted' }),
        took_ms: Type.Number({ minimum: 0, description: 'Milliseconds that the deletion took' }),
      }),
    },
  },
  errors: ['invalid-filter', 'overloaded', 'storage-full'],
  async handle({ services, signal }, { params, query }) {
    const startedMs = performance.now();
    const index = await requireIndex(services, params);
    const deleted = await index.deleteMatching((definition) => filterPlan(query.filter, definition), signal);
    return { status: 200, body: { deleted, took_ms: roundedMs(performance.now() - startedMs) } };
  },
});

export const searchResultOperations = [page, create, read, replace, patch, remove, removeMatching];

/** Rounds to microseconds. */
export function roundedMs(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Has a search worker read records of the list's current version. */
async function readRecords(
  { services, signal }: OperationContext,
  params: { readonly account: string; readonly list: string },
  taskOf: (target: SearchTarget) => SearchPoolTask,
): Promise<OperationResult> {
  const index = await requireIndex(services, params);
  const lease = index.lease();
  try {
    const { body, room } = await services.searchPool.search(
      taskOf({ generation: lease.handle }),
      signal,
      params.account,
    );
    return { status: 200, body, ...(room === undefined ? {} : { room }) };
  } finally {
    lease.release();
  }
}

/** Returns what the error of an unknown id needs, for callers who may read the record. */
function changed(caller: Caller, { id }: { readonly id: string }) {
  return { id, reads: caller.can('search-result:read') };
}

/** Parses a record. `id` is that of the path. Throws `invalid-record`. */
function writeBody(body: unknown, id?: string) {
  const { id: given, name, fields, flat, asOfMs, vectors } = readRecordInput(body);
  if (id !== undefined && given !== undefined && given !== id) {
    throw invalidRecord('id', `The record has the id '${given}', and the path another one.`);
  }
  const { name: _name, ...withoutName } = fields;
  return {
    ...(given === undefined ? {} : { id: given }),
    name,
    fields: flat ? withoutName : fields,
    ...(asOfMs === undefined ? {} : { asOf: new Date(asOfMs).toISOString() }),
    ...(vectors === undefined ? {} : { vectors }),
  };
}

function withinRoom(record: WriteResult['record'], bytesMax: number | undefined) {
  if (bytesMax === undefined) return record;
  const { leftOut } = fittingFields(Buffer.from(JSON.stringify(record.fields)), { bytesMax });
  if (leftOut.length === 0) return record;
  const isLeftOut = new Set(leftOut);
  const fields = Object.fromEntries(Object.entries(record.fields).filter(([name]) => !isLeftOut.has(name)));
  return { ...record, fields, fields_left_out: leftOut };
}

function answer({ outcome, record }: WriteResult) {
  return { status: outcome === 'created' ? 201 : 200, body: record };
}
