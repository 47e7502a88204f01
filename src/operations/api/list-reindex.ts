/** `/list/…/reindex`: rebuilds a list's index from its records; for the console and the command line only. */
import { Type } from 'typebox';
import { requireList, searchSettings } from '../dispatch/list-access.js';
import { defineOperation } from '../dispatch/operation.js';
import { listParams, object } from './schemas.js';

const reindex = defineOperation({
  name: 'list.reindex',
  summary: 'Rebuild the index of a list from its records',
  description:
    'For a damaged index. Every version is read and indexed again. Meanwhile, searches and writes go on with the existing index; then the new one takes its place at once. It needs room on the disk for a second index. A list that could not be opened is rebuilt by itself; if that failed, this begins it again, and `not-ready` tells how far it is.',
  method: 'POST',
  path: '/list/{account}/{list}/reindex',
  permission: 'list:update',
  callers: ['console', 'cli'],
  target: 'list',
  params: listParams,
  responses: {
    200: {
      description: 'The new index is in force',
      schema: object({
        records: Type.Integer({ minimum: 0, description: 'Records that were read, those of all versions' }),
        took_ms: Type.Number({ minimum: 0, description: 'Milliseconds' }),
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
