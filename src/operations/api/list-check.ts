/** `/list/…/check`: verifies that a list's index agrees with its records; for the console and the command line only. */
import { Type } from 'typebox';
import { requireIndex } from '../dispatch/list-access.js';
import { defineOperation } from '../dispatch/operation.js';
import { listParams, object } from './schemas.js';

const check = defineOperation({
  name: 'list.check',
  summary: 'Compare the index of a list with its records',
  description:
    'Reads every record of every version, and looks it up in the index by its id and name and, for a sample of records, by its words. Searches go on meanwhile; writes to the list wait until the check is done, which takes some seconds per million records.',
  method: 'POST',
  path: '/list/{account}/{list}/check',
  permission: 'list:read',
  callers: ['console', 'cli'],
  target: 'list',
  params: listParams,
  responses: {
    200: {
      description: 'The result of the check',
      schema: object({
        ok: Type.Boolean({ description: 'Whether the index agrees with the records' }),
        problems: Type.Array(Type.String(), {
          description: 'Differences that were found, at most 100 for each version',
        }),
        took_ms: Type.Number({
          minimum: 0,
          description: 'Milliseconds that the check took, including the wait for earlier writes',
        }),
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
