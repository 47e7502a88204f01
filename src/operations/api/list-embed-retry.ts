/** `/list/embed-retry`: retries records that could not be embedded. */
import { Type } from 'typebox';
import { requireIndex } from '../dispatch/list-access.js';
import { defineOperation } from '../dispatch/operation.js';
import { listParams, object } from './schemas.js';

const embedRetry = defineOperation({
  name: 'list.embed-retry',
  summary: 'Retry records that could not be embedded',
  description:
    "Queues the records that are counted under `failed` of the list's `meaning` for the model again, with all attempts before them. Does nothing if no record failed, or if the list has no model for embeddings.",
  method: 'POST',
  path: '/list/embed-retry/{account}/{list}',
  permission: 'list:update',
  callers: ['key', 'console', 'cli'],
  target: 'list',
  params: listParams,
  responses: {
    200: {
      description: 'The records were queued',
      schema: object({
        retried: Type.Integer({ minimum: 0, description: 'Number of records that were queued again' }),
      }),
    },
  },
  errors: ['overloaded', 'storage-full'],
  async handle({ services }, { params }) {
    const index = await requireIndex(services, params);
    return { status: 200, body: { retried: await index.retryEmbeddings() } };
  },
});

export const listEmbedRetryOperations = [embedRetry];
