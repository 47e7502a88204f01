/** What webhooks are told of keys: everything that an administrator may see of one, and nothing that opens a door. */
import type { EventContent } from '../platform/index.js';
import type { ApiKeyRecord } from './types.js';

export function keyEvent(type: 'api-key.created' | 'api-key.deleted', key: ApiKeyRecord): EventContent {
  const { id, name, scope, scope_target, region, permissions, expires_at, created_utc } = key;
  return { type, id, list: '', data: { name, scope, scope_target, region, permissions, expires_at, created_utc } };
}
