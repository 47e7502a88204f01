/** `POST /api-key/read-only`: the only way for a key to create a key. */
import { Type } from 'typebox';
import {
  isReadPermission,
  nameMeant,
  parseFutureExpiry,
  type Caller,
  type PermissionCatalogue,
  type KeyScope,
} from '../../access/index.js';
import type { Catalog } from '../../catalog/index.js';
import { ServiceError } from '../../platform/index.js';
import {
  createdKeyResource,
  describeCreatedKey,
  expiresAt,
  keyName,
  keyScopeSchema,
  permissionsSchema,
  scopeTarget,
} from './api-key-schemas.js';
import { checkScopeTarget } from './key-scope.js';
import { defineOperation, LONG_OPTIONS_BODY_BYTES_MAX } from '../dispatch/operation.js';
import { accountName, noParams, object } from './schemas.js';

const readOnlyKey = object({
  account_name: accountName,
  api_key_name: keyName,
  permissions: permissionsSchema,
  scope: Type.Optional(keyScopeSchema),
  scope_target: Type.Optional(scopeTarget),
  expires_at: Type.Optional(expiresAt),
});

export const apiKeyCreateReadOnly = defineOperation({
  name: 'api-key.create-read-only',
  summary: 'Create an API key that can only read',
  description: [
    "The scope of the new key (default `account`) must be the caller's or narrower; a wider one is refused (403).",
    'Permissions that do not end in `:read` or `:view` are dropped; if none is left, the request is refused (400).',
    'The caller needs only `api-key:create-read-only`: with it, any read permission can be granted within the scope of the caller, even one that the caller does not have. So a server that hands out keys needs no other permission.',
    "The new key expires no later than the caller's. Without `expires_at` it gets the caller's expiry; a later one is refused (403).",
    'By default, all keys of an account together may create 10 such keys per hour; further ones are refused (429, with `Retry-After`).',
  ].join(' '),
  method: 'POST',
  path: '/api-key/read-only',
  permission: 'api-key:create-read-only',
  callers: ['key', 'console', 'cli'],
  target: 'none',
  params: noParams,
  bodyBytesMax: LONG_OPTIONS_BODY_BYTES_MAX,
  body: readOnlyKey,
  responses: { 201: { description: 'The new key, shown only this once', schema: createdKeyResource } },
  errors: [
    'out-of-scope',
    'wider-than-caller',
    'account-not-found',
    'list-not-found',
    'group-not-found',
    'conflict',
    'unprocessable',
    'rate-limited',
    'storage-full',
  ],
  async handle({ services, caller }, { body }) {
    const account = body.account_name;
    assertAccount(caller, account, services.catalog);
    const scope = body.scope ?? 'account';
    const target = body.scope_target ?? null;
    if (isWider(caller, scope)) {
      throw new ServiceError(
        'wider-than-caller',
        `A key with the scope ${caller.key?.scope} cannot create a key with the scope ${scope}.`,
      );
    }
    const permissions = readPermissions(services.permissions, body.permissions);
    const reach = checkScopeTarget(services.catalog, caller, account, { scope, target });
    const expires_at = expiryWithin(caller.key?.expires_at ?? null, body.expires_at ?? null, services.clock.nowMs());

    const decision = services.readOnlyKeyLimiter.take(account);
    if (!decision.allowed) {
      throw new ServiceError(
        'rate-limited',
        'The account has already created as many read-only keys as are allowed in an hour. Try again later.',
        {
          retryAfterSeconds: decision.retryAfterSeconds,
        },
      );
    }
    const region = services.catalog.account(account)?.region ?? services.config.account.region;
    const { record, secret } = await services.access.createKey({
      account,
      name: body.api_key_name,
      ...reach,
      region,
      permissions,
      expires_at,
    });
    return { status: 201, body: describeCreatedKey(record, secret) };
  },
});

function assertAccount(caller: Caller, account: string, catalog: Catalog): void {
  if (caller.account !== undefined && caller.account !== account) {
    throw new ServiceError('out-of-scope', `This key does not reach the account '${account}'.`);
  }
  if (catalog.account(account) !== undefined) return;
  const meant = nameMeant(caller, { kind: 'account', account }, catalog);
  throw new ServiceError('account-not-found', `There is no account '${account}'.${meant}`);
}

/** True if the kind of scope itself is wider than the caller's. Whether the target is within reach is checked later. */
function isWider(caller: Caller, scope: KeyScope): boolean {
  switch (caller.key?.scope) {
    case undefined:
    case 'account':
      return false;
    case 'group':
      return scope === 'account';
    case 'list':
      return scope !== 'list';
  }
}

/**
 * Returns the read permissions among these. Throws `invalid-parameter` if there are none, and for unknown read
 * permissions.
 */
function readPermissions(known: PermissionCatalogue, named: readonly string[]): readonly string[] {
  const faults = named.flatMap((permission, position) =>
    isReadPermission(permission) && !known.has(permission)
      ? [{ pointer: `/permissions/${position}`, detail: known.unknownText(permission) }]
      : [],
  );
  const [first] = faults;
  if (first !== undefined) throw new ServiceError('invalid-parameter', first.detail, { errors: faults });
  const kept = [...new Set(named.filter(isReadPermission))];
  if (kept.length > 0) return kept;
  const detail = 'Give at least one permission that ends in :read or :view; all others are dropped.';
  throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/permissions', detail }] });
}

/**
 * Returns the expiry of the new key. Throws `wider-than-caller` if it is later than the caller's, and `unprocessable`
 * if it is in the past.
 */
function expiryWithin(callers: string | null, wanted: string | null, nowMs: number): string | null {
  if (wanted === null) return callers;
  const expiry = parseFutureExpiry(wanted, nowMs);
  if (callers === null || Date.parse(expiry) <= Date.parse(callers)) return expiry;
  throw new ServiceError(
    'wider-than-caller',
    `The calling key expires at ${callers}; the new key cannot expire later.`,
  );
}
