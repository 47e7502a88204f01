/** `/related`: records similar to a given one. */
import { Type } from 'typebox';
import { SEARCH_SIZE_DEFAULT, SEARCH_SIZE_MAX } from '../../platform/index.js';
import { readOptions } from '../../search/index.js';
import { defineOperation } from '../dispatch/operation.js';
import { object, recordName } from './schemas.js';
import { searchQuery } from './search-options.js';
import { searchResponse } from './search-response.js';
import { listSearchParams, listTargets } from './search-targets.js';

const SKIP_MAX = 100_000;
const { list_name, version, total_count, results, took_ms } = searchResponse.properties;

const read = defineOperation({
  name: 'related.list',
  summary: 'Find records similar to a record',
  description:
    'Records that people clicked more than once after the same searches as this record come first; clicks take effect within a minute or two. Then come records that share its most distinctive terms and, in a list with a model, records near to it in meaning. The record itself is left out. Percent-encode the slashes of its name in the path. The answer has no `query_id`, and the call is not counted as a search in analytics, but it counts against the search rate limit.',
  method: 'GET',
  path: '/related/{account}/{list}/{version}/{record}',
  permission: 'search-result:read',
  callers: ['key', 'console', 'cli'],
  rateLimit: 'search',
  target: 'list',
  params: object({ ...listSearchParams.properties, record: recordName }),
  query: object({
    filter: searchQuery.properties.filter,
    select: searchQuery.properties.select,
    skip: Type.Optional(
      Type.Integer({ minimum: 0, maximum: SKIP_MAX, description: 'Number of records to skip; default 0' }),
    ),
    size: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: SEARCH_SIZE_MAX,
        description: `Number of records to return; default ${SEARCH_SIZE_DEFAULT}`,
      }),
    ),
  }),
  responses: {
    200: {
      description: 'The similar records, most similar first',
      schema: object({ list_name, version, total_count, results, took_ms }),
      headers: ['Server-Timing'],
    },
  },
  errors: [
    'version-not-found',
    'record-not-found',
    'invalid-filter',
    'unprocessable',
    'answer-too-large',
    'overloaded',
    'deadline',
  ],
  async handle(context, { params, query }) {
    const { services, signal } = context;
    const { targets, lists, subject, release } = await listTargets(context, params);
    try {
      const [[target], [list]] = [targets, lists];
      if (target === undefined || list === undefined) throw new Error('a list has one target');
      const answer = await services.searchPool.search(
        {
          kind: 'related',
          target,
          listId: list.id,
          subject: { list: subject.name, version: subject.version },
          recordName: params.record,
          options: readOptions(query),
        },
        signal,
        params.account,
      );
      return {
        status: 200,
        body: answer.body,
        ...(answer.room === undefined ? {} : { room: answer.room }),
        headers: { 'Server-Timing': `related;dur=${answer.workerMs.toFixed(3)}` },
      };
    } finally {
      release();
    }
  },
});

export const relatedOperations = [read];
