/** The only access to the service: the client generated from its registry of operations. */
import { createClient } from '../../../../dist/client/operations.js';

export * from '../../../../dist/client/operations.js';

/** Headers of the current session, which each request sends besides the cookie. */
const caller = { csrfToken: '', account: '' };

export function callAs(given: Partial<typeof caller>): void {
  Object.assign(caller, given);
}

export const client = createClient({
  base: '',
  headers: () => ({
    ...(caller.csrfToken === '' ? {} : { 'X-CSRF-Token': caller.csrfToken }),
    ...(caller.account === '' ? {} : { 'X-Account': caller.account }),
  }),
});
