/**
 * The steps of every call, over HTTP or the control socket:
 *
 *   admit:    authenticate → permission → scope and existence → rate limit      (before a body is read)
 *   perform:  still admitted (if there is a body) → cache → validate → handle
 *
 * What the steps of `admit` answer, first match wins:
 *
 *   | Situation                                                                  | Answer                 |
 *   |----------------------------------------------------------------------------|------------------------|
 *   | no key, or one that is unknown, expired or revoked                         | 401 invalid-key        |
 *   | a session that has ended                                                   | 401 not-signed-in      |
 *   | a session without its CSRF token, if the method is not GET                 | 403 csrf-token         |
 *   | a session of a user who is not a contributor of the account                | 403 out-of-scope       |
 *   | a key on an operation for console and command line only                    | 403 console-only       |
 *   | a key or role without the operation's permission                           | 403 missing-permission |
 *   | another account, whether it exists or not                                  | 403 out-of-scope       |
 *   | a list or group key on the account itself                                  | 403 out-of-scope       |
 *   | a list key on another list or any group, a group key on another group or a | 403 out-of-scope       |
 *   | list outside its group: whether these exist or not                         |                        |
 *   | a group key on its own group that is gone                                  | 403 out-of-scope       |
 *   | a reachable list or group whose name no list or group can have             | 400 invalid-name       |
 *   | a reachable account, list or group that does not exist                     | 404 …-not-found (not   |
 *   |                                                                            | for clicks)            |
 *   | the account's searches of this minute are spent                            | 429 rate-limited       |
 */
import {
  nameMeant,
  reaches,
  SESSION_AUTHENTICATOR,
  type Caller,
  type Reach,
  type SessionCredential,
} from '../../access/index.js';
import type { Catalog } from '../../catalog/index.js';
import { assertName, didYouMean, ServiceError } from '../../platform/index.js';
import { namedDamage } from './damaged-list.js';
import { placedIn } from './error-places.js';
import { withMeantName } from './meant-name.js';
import type { Admission, Operation, OperationContext, OperationResult, RawInput } from './operation.js';
import type { Services } from './services.js';
import { whileAdmitted } from './still-admitted.js';
import { createValidator, type InputValidator } from './validation.js';

/**
 * How a caller identifies itself: by a key or session over HTTP, or by the control socket, which only its owner can
 * open. An operation that calls others does so as its own caller.
 */
export type Credential =
  | { readonly kind: 'key'; readonly header: string | undefined }
  | SessionCredential
  | { readonly kind: 'cli' }
  | { readonly kind: 'caller'; readonly caller: Caller };

export type PathParams = Readonly<Record<string, string | undefined>>;

export interface Dispatcher {
  /** Checks everything that can be checked before the body is read. Throws a ServiceError. */
  admit(operation: Operation, params: PathParams, credential: Credential): Admission;
  /** Validates the input and runs the operation for an admitted caller. */
  perform(operation: Operation, raw: RawInput, context: OperationContext): Promise<OperationResult> | OperationResult;
}

/** Admission of the caller of a public operation. */
const NOBODY: Admission = Object.freeze({
  list: undefined,
  caller: Object.freeze({ kind: 'key', account: '', key: undefined, can: () => false }),
} as const);

export function createDispatcher(services: Services): Dispatcher {
  const validators = new Map<Operation, InputValidator>();
  return {
    admit(operation, params, credential) {
      if (operation.permission === 'public') return NOBODY;
      const caller = callerOf(credential, operation, params, services);
      assertPermission(operation, caller);
      const admission = admissionOf(operation, params, caller, services);
      if (operation.rateLimit === 'search' && caller.kind !== 'cli') spendSearch(params, caller, services);
      return admission;
    },
    perform(operation, given, context) {
      const raw = whileAdmitted(given, () => {
        assertStillAdmitted(operation, given.params, context.caller, services);
      });
      const answer = operation.early?.(context, raw);
      if (answer !== undefined) return answer;
      let validate = validators.get(operation);
      if (validate === undefined) validators.set(operation, (validate = createValidator(operation)));
      const { account, list } = raw.params;
      // Outside of the try: the validator places its own errors.
      const input = validate(raw);
      const told = (error: unknown) =>
        withMeantName(placedIn(operation, namedDamage(error, services, account, list)), context.caller);
      try {
        const result = operation.handle(context, input);
        if (!(result instanceof Promise)) return result;
        return result.catch((error: unknown) => {
          throw told(error);
        });
      } catch (error) {
        throw told(error);
      }
    },
  };
}

/** Throws `invalid-key` if the key was deleted or has expired since, and what `admissionOf` throws. */
function assertStillAdmitted(operation: Operation, params: PathParams, caller: Caller, services: Services): void {
  const { key } = caller;
  if (key === undefined) return;
  if (!services.access.isInForce(key)) {
    throw new ServiceError(
      'invalid-key',
      'The API key was deleted or has expired while the body of the request was on its way. What was written before stays.',
    );
  }
  admissionOf(operation, params, caller, services);
}

function callerOf(credential: Credential, { method }: Operation, { account }: PathParams, services: Services): Caller {
  switch (credential.kind) {
    case 'key':
      return services.access.authenticate(credential.header);
    case 'session':
      return services.part(SESSION_AUTHENTICATOR).authenticate(credential, account, method !== 'GET');
    case 'cli':
      return services.access.cli;
    case 'caller':
      return credential.caller;
  }
}

function assertPermission(operation: Operation, caller: Caller): void {
  const { callers, permission } = operation;
  if (!callers.includes(caller.kind)) {
    const open = callers.includes('console')
      ? 'the console and the command line, not by API keys'
      : 'the command line alone';
    throw new ServiceError('console-only', `This operation can only be used by ${open}.`);
  }
  if (permission !== null && permission !== 'public' && !caller.can(permission)) {
    throw new ServiceError(
      'missing-permission',
      `This needs the permission '${permission}'${placeOf(operation)}, which ${caller.kind === 'key' ? 'the key' : 'your role'} does not have.`,
    );
  }
}

function admissionOf(operation: Operation, params: PathParams, caller: Caller, services: Services): Admission {
  const { target } = operation;
  if (isNarrow(caller) && operation.needsWholeAccount === true) throw outOfScope(operation, caller, params);
  if (target === 'none') return { caller, list: undefined };
  const account = params['account'] ?? '';
  const name = params[target] ?? '';
  const to: Reach = target === 'account' ? { kind: 'account', account } : { kind: target, account, name };
  const { catalog } = services;
  if (!reaches(caller, to, catalog)) throw outOfScope(operation, caller, params);
  if (catalog.account(account) === undefined) {
    const meant = nameMeant(caller, { kind: 'account', account }, catalog);
    throw new ServiceError('account-not-found', `There is no account '${account}'.${meant}`);
  }
  if (target === 'account') return { caller, list: undefined };
  const list = target === 'list' ? catalog.list(account, name) : undefined;
  const found = target === 'list' ? list : catalog.group(account, name);
  if (found === undefined) assertMissingAdmitted({ operation, target, account, name }, caller, catalog);
  return { caller, list };
}

interface MissingTarget {
  readonly operation: Operation;
  readonly target: 'list' | 'group';
  readonly account: string;
  readonly name: string;
}

/** Throws unless the operation admits a missing target. Also checks the name; an existing target has a valid one. */
function assertMissingAdmitted(missing: MissingTarget, caller: Caller, catalog: Catalog): void {
  const { operation, target, account, name } = missing;
  assertName(target, name, { parameter: target });
  if (operation.admitsMissingTarget === true) return;
  if (target === 'group' && isNarrow(caller)) throw outOfScope(operation, caller, { account });
  const meant = nameMeant(caller, { kind: target, account, name }, catalog);
  throw new ServiceError(`${target}-not-found`, `There is no ${target} '${name}'.${meant}`);
}

/** True for a key of one list or group. */
function isNarrow({ key }: Caller): boolean {
  return key !== undefined && key.scope !== 'account';
}

/** Returns where a key would have to have the permission. */
function placeOf({ target, needsWholeAccount }: Operation): string {
  if (needsWholeAccount === true) return ' on the account';
  return target === 'list' || target === 'group' ? ` on the account or this ${target}` : '';
}

/**
 * Returns the same error whether the resource exists or not. If the request names another account, no permission would
 * help, so the error says that; the key's own account was mostly meant.
 */
function outOfScope(operation: Operation, caller: Caller, { account }: PathParams): ServiceError {
  const { permission } = operation;
  const key = caller.key;
  const reach =
    key === undefined || key.scope === 'account'
      ? `the account '${caller.account ?? ''}'`
      : `the ${key.scope} '${key.scope_target ?? ''}' of the account '${key.account}'`;
  if (account !== undefined && key !== undefined && account !== key.account) {
    const meant = didYouMean(account, [key.account]);
    return new ServiceError(
      'out-of-scope',
      `This key reaches only ${reach}, and the request names the account '${account}'.${meant}`,
    );
  }
  const place = placeOf(operation);
  const needed = permission === null || place === '' ? '' : ` This needs the permission '${permission}'${place}.`;
  return new ServiceError('out-of-scope', `This key reaches only ${reach}.${needed}`);
}

function spendSearch(params: PathParams, caller: Caller, services: Services): void {
  const decision = services.searchLimiter.take(params['account'] ?? caller.account ?? '');
  if (decision.allowed) return;
  const { retryAfterSeconds } = decision;
  throw new ServiceError(
    'rate-limited',
    `The account has used all its searches for this minute. Try again in ${retryAfterSeconds} s.`,
    { retryAfterSeconds },
  );
}
