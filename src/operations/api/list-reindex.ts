/** `/list/…/reindex`: rebuilds a list's index from its records; for the console and the command line only. */
import { Type } from 'typebox';
import { requireList, searchSettings } from '../dispatch/list-access.js';
import { defineOperation } from '../dispatch/operation.js';
import { listParams, object } from './schemas.js';

const reindex = defineOperation({
  name: 'list.reindex',
  summary: 'Rebuild the index of a list from its records',
  description:
    'Repairs a damaged index. Every version is read and indexed again. Meanwhile, searches and writes use the existing index; then the new one replaces it at once. The disk needs room for a second index. A list that cannot be opened is rebuilt automatically; if that failed, this call starts the rebuild again, and answers of the list with the code `not-ready` say how far it is.',
  method: 'POST',
  path: '/list/{account}/{list}/reindex',
  permission: 'list:update',
  callers: ['console', 'cli'],
  target: 'list',
  params: listParams,
  responses: {
    200: {
      description: 'The new index is in use',
      schema: object({
        records: Type.Integer({ minimum: 0, description: 'Number of records that were read, in all versions' }),
        took_ms: Type.Number({ minimum: 0, description: 'Milliseconds that the rebuild took' }),
      }),
    },
  },
  errors: ['conflict', 'overloaded', 'unprocessable', 'storage-full'],
  async handle({ services }, { params }) {
    const list = requireList(services, params.account, params.list);
    const begin = performance.now();
    const records = await services.indexes.reindex(list.id, searchSettings(list));
    return { status: 200, body: { records, took_ms: Math.round(performance.now() - begin) } };
  },
});

export const listReindexOperations = [reindex];
