/** Schemas of keys. */
import { Type } from 'typebox';
import type { ApiKeyRecord, KeyUses } from '../../access/index.js';
import { nameSchema, nullable, named, oneOf, timeSchema } from './schemas.js';

const KEY_NAME_CHARACTERS_MAX = 200;
/** More than the catalogue of permissions has. */
const PERMISSIONS_MAX = 200;
const PERMISSION_CHARACTERS_MAX = 100;

export const keyName = Type.String({
  minLength: 1,
  maxLength: KEY_NAME_CHARACTERS_MAX,
  description: 'What the key is for',
  examples: ['website search'],
});

export const keyScopeSchema = oneOf(['account', 'list', 'group'], {
  description:
    'Where the key reaches: `account`: every list and group; `list`: the list scope_target and nothing else; `group`: the group scope_target and its lists',
});

export const scopeTarget = nullable(nameSchema('Name of the list or group', 'films'), {
  description: 'The list or group of a list or group scope; not given for an account scope',
});

export const permissionsSchema = Type.Array(Type.String({ minLength: 1, maxLength: PERMISSION_CHARACTERS_MAX }), {
  maxItems: PERMISSIONS_MAX,
  description:
    'What the key may do, as `<area>:<action>` or `<area>:*`; empty: everything. Names of the areas `eval`, `judge`, `query-rule` and some others are taken that no operation needs yet; what an operation needs is its `x-permission`',
  examples: [['list:read', 'search-result:read']],
});

export const expiresAt = nullable(
  Type.String({ minLength: 1, maxLength: 40, examples: ['2027-01-01', '2027-01-01T12:00:00Z'] }),
  {
    description:
      'A date (the key works until the end of that day, UTC) or a time, neither of which has passed (422); null: never',
  },
);

const keyMembers = {
  id: Type.String({ description: 'For deleting the key', examples: ['019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f'] }),
  name: keyName,
  scope: keyScopeSchema,
  scope_target: nullable(Type.String(), { description: 'The list or group of the scope' }),
  region: Type.String({ description: 'The region that the key names', examples: ['eu'] }),
  permissions: permissionsSchema,
  expires_at: nullable(timeSchema('When the key stops working by itself')),
};

export const keyResource = named('ApiKey', {
  ...keyMembers,
  created_utc: timeSchema('When the key was made'),
  last_four: Type.String({ description: 'The last four characters of the key, to tell keys apart' }),
  last_used_utc: nullable(
    timeSchema(
      'The beginning of the hour in which a request came with the key last; null: none has since `use_known_since_utc`',
    ),
  ),
  use_known_since_utc: timeSchema(
    'Since when a use of the key is known: since it was made, or since a release runs that keeps when keys are used',
  ),
});

export const createdKeyResource = named('CreatedApiKey', {
  id: keyMembers.id,
  name: keyMembers.name,
  key: Type.String({
    description: 'The key itself, shown only this once: it is not stored, and cannot be read again',
    examples: ['gnt_eu_…'],
  }),
  scope: keyMembers.scope,
  scope_target: keyMembers.scope_target,
  region: keyMembers.region,
  permissions: keyMembers.permissions,
  expires_at: keyMembers.expires_at,
});

/** Returns what may be shown of a key at any time. */
export function describeKey(key: ApiKeyRecord, uses: KeyUses) {
  const { id, name, scope, scope_target, region, permissions, expires_at, created_utc, last_four } = key;
  return {
    ...{ id, name, scope, scope_target, region, permissions, expires_at, created_utc, last_four },
    last_used_utc: uses.lastUsedUtc(key),
    use_known_since_utc: uses.countedSinceUtc(key),
  };
}

/** Returns what the creator of a key sees once. */
export function describeCreatedKey(key: ApiKeyRecord, secret: string) {
  const { id, name, scope, scope_target, region, permissions, expires_at } = key;
  return { id, name, key: secret, scope, scope_target, region, permissions, expires_at };
}
