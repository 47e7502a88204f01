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
  description: 'Name of the key, which says what it is for',
  examples: ['website search'],
});

export const keyScopeSchema = oneOf(['account', 'list', 'group'], {
  description:
    'What the key reaches. `account`: every list and group; `list`: only the list `scope_target`; `group`: the group `scope_target` and the lists in it',
});

export const scopeTarget = nullable(nameSchema('Name of the list or group', 'films'), {
  description: 'Name of the list or group for the scope `list` or `group`. Leave it out for the scope `account`',
});

export const permissionsSchema = Type.Array(Type.String({ minLength: 1, maxLength: PERMISSION_CHARACTERS_MAX }), {
  maxItems: PERMISSIONS_MAX,
  description:
    'What the key may do: `<area>:<action>`, or `<area>:*` for a whole area. An empty array allows everything. Each operation names the permission that it needs as `x-permission`. Some areas, such as `eval`, `judge` and `query-rule`, are accepted although no operation needs them yet',
  examples: [['list:read', 'search-result:read']],
});

export const expiresAt = nullable(
  Type.String({ minLength: 1, maxLength: 40, examples: ['2027-01-01', '2027-01-01T12:00:00Z'] }),
  {
    description:
      'When the key stops working: a date (the key works until the end of that day, UTC) or a time. A date or time in the past is refused (422). Null: the key does not expire',
  },
);

const keyMembers = {
  id: Type.String({
    description: 'Id of the key, for deleting it',
    examples: ['019390ab-7f1e-7c3a-9b52-0f4a1c2d3e4f'],
  }),
  name: keyName,
  scope: keyScopeSchema,
  scope_target: nullable(Type.String(), {
    description: 'Name of the list or group that the key reaches. Null for the scope `account`',
  }),
  region: Type.String({ description: 'Region that the key names', examples: ['eu'] }),
  permissions: permissionsSchema,
  expires_at: nullable(timeSchema('Time at which the key stops working. Null if it does not expire')),
};

export const keyResource = named(
  'ApiKey',
  {
    ...keyMembers,
    created_utc: timeSchema('Time at which the key was created'),
    last_four: Type.String({ description: 'Last four characters of the key, to tell keys apart' }),
    last_used_utc: nullable(
      timeSchema(
        'Start of the hour of the last request with the key. Null if there was none since `use_known_since_utc`',
      ),
    ),
    use_known_since_utc: timeSchema(
      'Time since which uses of the key are recorded: its creation, or the first start of a release that records uses',
    ),
  },
  { description: 'What is known of an API key, without the key itself' },
);

export const createdKeyResource = named(
  'CreatedApiKey',
  {
    id: keyMembers.id,
    name: keyMembers.name,
    key: Type.String({
      description: 'The key itself. Shown only this once: it is not stored, and cannot be read again',
      examples: ['gnt_eu_…'],
    }),
    scope: keyMembers.scope,
    scope_target: keyMembers.scope_target,
    region: keyMembers.region,
    permissions: keyMembers.permissions,
    expires_at: keyMembers.expires_at,
  },
  { description: 'A new API key' },
);

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
