/** `/api-key/{account}`: creates, lists and revokes keys; for the console and the command line only. */
import { Type } from 'typebox';
import { parseFutureExpiry, type AccessPreset, type KeyScope, type PermissionCatalogue } from '../../access/index.js';
import { ServiceError, type ErrorPlace } from '../../platform/index.js';
import {
  createdKeyResource,
  describeCreatedKey,
  describeKey,
  expiresAt,
  keyName,
  keyResource,
  keyScopeSchema,
  permissionsSchema,
  scopeTarget,
} from './api-key-schemas.js';
import { checkScopeTarget } from './key-scope.js';
import { defineOperation, LONG_OPTIONS_BODY_BYTES_MAX } from '../dispatch/operation.js';
import {
  accountName,
  accountParams,
  nextOf,
  nextPage,
  object,
  oneOf,
  pageQuery,
  regionSchema,
  wantedPage,
} from './schemas.js';

const CONSOLE_ONLY = ['console', 'cli'] as const;
const ACCESS_WORDS = ['search-and-read', 'read-all', 'full', 'custom'] as const satisfies readonly (
  AccessPreset | 'custom'
)[];

const newKey = object(
  {
    name: keyName,
    scope: Type.Optional(keyScopeSchema),
    scope_target: Type.Optional(scopeTarget),
    access: Type.Optional(
      oneOf(ACCESS_WORDS, {
        description:
          'Preset of permissions. `search-and-read` (default): search lists and groups, and read their records; `read-all`: read everything; `full`: do everything; `custom`: what `permissions` says',
      }),
    ),
    permissions: Type.Optional(permissionsSchema),
    expires_at: Type.Optional(expiresAt),
    region: Type.Optional(
      regionSchema(
        'Region that the key names; default: the region of the account. Only for the scope `account`: a key of a list or group gets the region of the account that the list or group belongs to',
      ),
    ),
  },
  { description: 'The key to create. By default, its scope is `account` and its access `search-and-read`' },
);

const create = defineOperation({
  name: 'api-key.create',
  summary: 'Create an API key',
  method: 'POST',
  path: '/api-key/{account}',
  permission: 'api-key:create',
  callers: CONSOLE_ONLY,
  target: 'account',
  params: accountParams,
  bodyBytesMax: LONG_OPTIONS_BODY_BYTES_MAX,
  body: newKey,
  responses: { 201: { description: 'The new key, shown only this once', schema: createdKeyResource } },
  errors: ['list-not-found', 'group-not-found', 'conflict', 'unprocessable', 'storage-full'],
  async handle({ services, caller }, { params, body }) {
    const scope = body.scope ?? 'account';
    const target = body.scope_target ?? null;
    const reach = checkScopeTarget(services.catalog, caller, params.account, { scope, target });
    const region = services.catalog.account(params.account)?.region ?? services.config.account.region;
    checkRegion(scope, body.region, region);
    const { record, secret } = await services.access.createKey({
      account: params.account,
      name: body.name,
      ...reach,
      region: body.region ?? region,
      permissions: chosenPermissions(services.permissions, body.access, body.permissions),
      expires_at:
        typeof body.expires_at === 'string' ? parseFutureExpiry(body.expires_at, services.clock.nowMs()) : null,
    });
    return { status: 201, body: describeCreatedKey(record, secret) };
  },
});

/**
 * Throws `invalid-parameter` for another region: a list or group is in the region of its account, which its keys name.
 */
function checkRegion(scope: KeyScope, named: string | undefined, region: string): void {
  if (scope === 'account' || named === undefined || named === region) return;
  const detail = `A key of a ${scope} always has the region of the ${scope}, '${region}': leave out the region.`;
  throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/region', detail }] });
}

/** Returns the permissions of the preset, or those named. Throws `invalid-parameter`. */
function chosenPermissions(
  known: PermissionCatalogue,
  access: AccessPreset | 'custom' | undefined,
  named: readonly string[] | undefined,
): readonly string[] {
  if (named === undefined) {
    if (access !== 'custom') return known.presets[access ?? 'search-and-read'];
    throw invalidPermissions([{ pointer: '/permissions', detail: 'With custom access, permissions must be given.' }]);
  }
  if (access !== undefined && access !== 'custom') {
    throw invalidPermissions([
      { pointer: '/permissions', detail: `Permissions can only be given with custom access, not with ${access}.` },
    ]);
  }
  if (access === 'custom' && named.length === 0) {
    throw invalidPermissions([
      { pointer: '/permissions', detail: 'With custom access, at least one permission must be given.' },
    ]);
  }
  const faults = named.flatMap((permission, position) =>
    known.has(permission) ? [] : [{ pointer: `/permissions/${position}`, detail: known.unknownText(permission) }],
  );
  if (faults.length > 0) throw invalidPermissions(faults);
  return [...new Set(named)];
}

function invalidPermissions(errors: readonly ErrorPlace[]): ServiceError {
  return new ServiceError('invalid-parameter', errors[0]?.detail ?? 'The permissions are not valid.', { errors });
}

const list = defineOperation({
  name: 'api-key.list',
  summary: 'List the API keys of an account',
  description:
    'Returns what is known of each key, with its last four characters. The keys themselves are never returned.',
  method: 'GET',
  path: '/api-key/{account}',
  permission: 'api-key:read',
  callers: CONSOLE_ONLY,
  target: 'account',
  params: accountParams,
  query: pageQuery,
  responses: {
    200: {
      description: 'The keys, in order of creation',
      schema: object({ keys: Type.Array(keyResource, { description: 'The keys' }), next: nextPage }),
    },
  },
  handle({ services }, { params, query }) {
    const { access } = services;
    const page = access.keyPage(params.account, wantedPage(query));
    return { status: 200, body: { keys: page.entries.map((key) => describeKey(key, access.uses)), ...nextOf(page) } };
  },
});

const remove = defineOperation({
  name: 'api-key.delete',
  summary: 'Delete an API key',
  description: 'Deletes the key. It stops working at once.',
  method: 'DELETE',
  path: '/api-key/{account}/{id}',
  permission: 'api-key:delete',
  callers: CONSOLE_ONLY,
  target: 'account',
  params: object({
    account: accountName,
    id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the key' }),
  }),
  responses: { 204: { description: 'The API key was deleted', schema: null } },
  errors: ['key-not-found', 'storage-full'],
  async handle({ services }, { params }) {
    if (await services.access.deleteKey(params.account, params.id)) return { status: 204 };
    throw new ServiceError('key-not-found', `The account '${params.account}' has no key with this id.`);
  },
});

export const apiKeyOperations = [create, list, remove];
