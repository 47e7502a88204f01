/** Scope of a new key. */
import { assertReach, scopeTargetId, type Caller, type KeyScope, type NewKey } from '../../access/index.js';
import type { Catalog } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';

/**
 * Checks that scope and target fit together and that the target exists; returns both as stored in a key. Throws
 * `invalid-parameter`, `out-of-scope` if the caller could not see the target anyway, or `list-not-found` and
 * `group-not-found`.
 */
export function checkScopeTarget(
  catalog: Catalog,
  caller: Caller,
  account: string,
  { scope, target }: { readonly scope: KeyScope; readonly target: string | null },
): Pick<NewKey, 'scope' | 'scope_target' | 'scope_target_id'> {
  if (scope === 'account') {
    if (target !== null) throw invalidTarget('An account scope takes no scope_target.');
    return { scope, scope_target: null };
  }
  if (target === null) throw invalidTarget(`A ${scope} scope needs the name of the ${scope} as scope_target.`);
  assertReach(caller, { kind: scope, account, name: target }, catalog);
  const id = scopeTargetId(catalog, account, scope, target);
  return { scope, scope_target: target, ...(id === undefined ? {} : { scope_target_id: id }) };
}

function invalidTarget(detail: string): ServiceError {
  return new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/scope_target', detail }] });
}
