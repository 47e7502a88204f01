/** The one way to the service: the client that is generated from its registry of operations. */
import { createClient } from '../../../../dist/client/operations.js';

export * from '../../../../dist/client/operations.js';

/** Of the session that is signed in: what each request carries beside the cookie. */
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
