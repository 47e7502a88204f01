/**
 * The catalogue of permissions: every `<area>:<action>` that a key may hold, the presets of the console, and what a set
 * of permissions allows. An operation's `permission` must be one of these names (checked by a test).
 */
import { nearest } from '../platform/index.js';

/** Areas by the heading under which the console shows them; `view` is reading a thing that is not the account's own. */
export const PERMISSION_GROUPS = {
  account: {
    account: ['read', 'update'],
    contributor: ['read', 'create', 'update', 'delete'],
    service: ['view'],
    model: ['view'],
    list: ['read', 'create', 'update', 'delete'],
    'list-group': ['read', 'create', 'update', 'delete'],
  },
  'api-key': { 'api-key': ['read', 'create', 'delete', 'create-read-only'] },
  records: { 'search-result': ['read', 'create', 'update', 'delete'] },
  fields: {
    facet: ['read', 'create', 'update', 'delete'],
    'searchable-field': ['read', 'create', 'update', 'delete'],
    resource: ['read', 'create', 'update', 'delete'],
    synonym: ['read', 'create', 'update', 'delete'],
    'query-rule': ['read', 'create', 'update', 'delete'],
  },
  analytics: { analytics: ['read'] },
  evals: { eval: ['read', 'create', 'run', 'delete'], judge: ['read', 'update'] },
  media: { media: ['read', 'create', 'delete'], 'media-store': ['read', 'create', 'update', 'delete'] },
  feeds: { feed: ['read', 'create', 'update', 'delete', 'sync'] },
  webhooks: { webhook: ['read', 'create', 'update', 'delete', 'test'] },
} as const satisfies Record<string, Record<string, readonly string[]>>;

const AREAS: ReadonlyMap<string, readonly string[]> = new Map(
  Object.values(PERMISSION_GROUPS).flatMap((areas) => Object.entries(areas) as [string, readonly string[]][]),
);

/** Every permission by its full name, in the order of the console. */
export const PERMISSIONS: readonly string[] = [...AREAS].flatMap(([area, actions]) =>
  actions.map((action) => `${area}:${action}`),
);

const KNOWN: ReadonlySet<string> = new Set(PERMISSIONS);
const WILDCARDS: readonly string[] = [...AREAS.keys()].map((area) => `${area}:*`);

/** True for permissions that change nothing: those that end in `:read` or `:view`. */
export function isReadPermission(permission: string): boolean {
  return permission.endsWith(':read') || permission.endsWith(':view');
}

/** True for a name of the catalogue, an area's `<area>:*`, or `*`. */
export function isPermission(permission: string): boolean {
  return permission === '*' || KNOWN.has(permission) || WILDCARDS.includes(permission);
}

/** A sentence on an unknown permission, with the name that was probably meant. */
export function unknownPermissionText(permission: string): string {
  const suggestion = nearest(permission, [...PERMISSIONS, ...WILDCARDS]);
  const text = `There is no permission ${JSON.stringify(permission)}.`;
  return suggestion === undefined ? text : `${text} Did you mean ${JSON.stringify(suggestion)}?`;
}

/** The presets of the console and the command line (`--access`); `custom` stands for permissions named one by one. */
export const ACCESS_PRESETS = {
  'search-and-read': ['list:read', 'list-group:read', 'search-result:read'],
  'read-all': PERMISSIONS.filter(isReadPermission),
  full: [],
} as const satisfies Record<string, readonly string[]>;

export type AccessPreset = keyof typeof ACCESS_PRESETS;

/** What a key's list of permissions allows, made once a key so that a check is one look-up. */
export class PermissionSet {
  readonly #everything: boolean;
  readonly #allowed: ReadonlySet<string>;

  /** Empty, or with `*` in it: everything. */
  constructor(permissions: readonly string[]) {
    this.#everything = permissions.length === 0 || permissions.includes('*');
    this.#allowed = new Set(permissions);
  }

  allows(permission: string): boolean {
    if (this.#everything || this.#allowed.has(permission)) return true;
    const colon = permission.indexOf(':');
    return colon > 0 && this.#allowed.has(`${permission.slice(0, colon)}:*`);
  }
}
