/** Where a new key may reach. */
import { assertReach, type Caller, type KeyScope } from '../access/index.js';
import type { Catalog } from '../catalog/index.js';
import { ServiceError } from '../platform/index.js';

/**
 * Checks that scope and target go together and that the target exists. Throws `invalid-parameter`, `out-of-scope` where
 * the caller could not see the target anyway, or `list-not-found` and `group-not-found`.
 */
export function checkScopeTarget(
  catalog: Catalog,
  caller: Caller,
  account: string,
  scope: KeyScope,
  target: string | null,
): void {
  if (scope === 'account') {
    if (target !== null) throw invalidTarget('An account scope takes no scope_target.');
    return;
  }
  if (target === null) throw invalidTarget(`A ${scope} scope needs the name of the ${scope} as scope_target.`);
  assertReach(caller, { kind: scope, account, name: target }, catalog);
}

function invalidTarget(detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/scope_target', detail }] });
}
