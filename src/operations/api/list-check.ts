/** `/list/…/check`: verifies that a list's index agrees with its records; for the console and the command line only. */
import { Type } from 'typebox';
import { requireIndex } from '../dispatch/list-access.js';
import { defineOperation } from '../dispatch/operation.js';
import { listParams, object } from './schemas.js';

const check = defineOperation({
  name: 'list.check',
  summary: 'Compare the index of a list with its records',
  description:
    'Reads every record of every version and looks in the index for it, its name and, for a sample, its words. Searches go on; writes to the list wait until it is done, which takes some seconds a million records.',
  method: 'POST',
  path: '/list/{account}/{list}/check',
  permission: 'list:read',
  callers: ['console', 'cli'],
  target: 'list',
  params: listParams,
  responses: {
    200: {
      description: 'What was found',
      schema: object({
        ok: Type.Boolean({ description: 'Index and records agree' }),
        problems: Type.Array(Type.String(), { description: 'What does not agree, at most 100 of each version' }),
        took_ms: Type.Number({ minimum: 0, description: 'Milliseconds, the wait for writes before it included' }),
      }),
    },
  },
  errors: ['overloaded'],
  async handle({ services }, { params }) {
    const index = await requireIndex(services, params);
    const begin = performance.now();
    const problems = await index.check();
    const took_ms = Math.round(performance.now() - begin);
    return { status: 200, body: { ok: problems.length === 0, problems, took_ms } };
  },
});

export const listCheckOperations = [check];
