/** `/list/embed-retry`: retries records that could not be embedded. */
import { Type } from 'typebox';
import { requireIndex } from '../dispatch/list-access.js';
import { defineOperation } from '../dispatch/operation.js';
import { listParams, object } from './schemas.js';

const embedRetry = defineOperation({
  name: 'list.embed-retry',
  summary: 'Try again to embed what failed',
  description:
    "Records that are counted under `failed` of the list's `meaning` wait for its model again, with all attempts before them. Nothing happens where none failed, or the list has no model that embeds.",
  method: 'POST',
  path: '/list/embed-retry/{account}/{list}',
  permission: 'list:update',
  callers: ['key', 'console', 'cli'],
  target: 'list',
  params: listParams,
  responses: {
    200: {
      description: 'The records are queued',
      schema: object({ retried: Type.Integer({ minimum: 0, description: 'Records that are tried again' }) }),
    },
  },
  errors: ['overloaded', 'storage-full'],
  async handle({ services }, { params }) {
    const index = await requireIndex(services, params);
    return { status: 200, body: { retried: await index.retryEmbeddings() } };
  },
});

export const listEmbedRetryOperations = [embedRetry];
