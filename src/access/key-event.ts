/**
 * Returns a webhook event of a key: everything that an administrator may see of it, without anything that gives access.
 */
import type { EventContent } from '../platform/index.js';
import type { ApiKeyRecord } from './types.js';

export function keyEvent(type: 'api-key.created' | 'api-key.deleted', key: ApiKeyRecord): EventContent {
  const { id, name, scope, scope_target, region, permissions, expires_at, created_utc } = key;
  return { type, id, list: '', data: { name, scope, scope_target, region, permissions, expires_at, created_utc } };
}
