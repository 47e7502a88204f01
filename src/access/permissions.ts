/**
 * Permissions: `<area>:<action>`. They are derived from the operations, each of which names the one that it needs. Only
 * permissions that the interface promises before any operation needs them are listed here.
 */
import { nearest } from '../platform/index.js';

/** Order in which permissions are offered; other areas follow these. */
const AREAS: readonly string[] = [
  ...['account', 'contributor', 'service', 'model', 'list', 'list-group', 'api-key', 'search-result', 'facet'],
  ...['searchable-field', 'resource', 'synonym', 'query-rule', 'analytics', 'eval', 'judge', 'media', 'media-store'],
  ...['feed', 'webhook'],
];
const ACTIONS: readonly string[] = ['view', 'read', 'create', 'update', 'delete'];

/** Permissions that keys may already have, and that take effect once an operation needs them. */
const PROMISED: Readonly<Record<string, readonly string[]>> = {
  account: ['read', 'update'],
  contributor: ['read', 'create', 'delete'],
  service: ['view'],
  model: ['view'],
  facet: ['read'],
  'searchable-field': ['read'],
  resource: ['read'],
  synonym: ['create', 'delete'],
  'query-rule': ['read', 'create', 'update', 'delete'],
  eval: ['read', 'create', 'run', 'delete'],
  judge: ['read', 'update'],
  media: ['read', 'create', 'delete'],
  'media-store': ['read', 'create', 'update', 'delete'],
  feed: ['read', 'create', 'update', 'delete', 'sync'],
};

/** Presets of the console and the command line (`--access`); `custom` stands for permissions named one by one. */
export type AccessPreset = 'search-and-read' | 'read-all' | 'full';

/** True for permissions that change nothing: those that end in `:read` or `:view`. */
export function isReadPermission(permission: string): boolean {
  return permission.endsWith(':read') || permission.endsWith(':view');
}

/** All permissions that a key may have. */
export class PermissionCatalogue {
  /** Full names, in the order in which they are offered. */
  readonly all: readonly string[];
  /** Those of `all` that an operation needs; only these are offered to people. */
  readonly needed: readonly string[];
  readonly presets: Readonly<Record<AccessPreset, readonly string[]>>;
  readonly #known: ReadonlySet<string>;
  readonly #wildcards: readonly string[];

  /** `needed`: permissions of the operations; null and `public` stand for none. */
  constructor(needed: Iterable<string | null>) {
    const promised = Object.entries(PROMISED).flatMap(([area, actions]) =>
      actions.map((action) => `${area}:${action}`),
    );
    const named = [...needed].filter((permission) => permission?.includes(':') === true) as string[];
    this.all = [...new Set([...named, ...promised])].sort(inOrder);
    const asked = new Set(named);
    this.needed = this.all.filter((permission) => asked.has(permission));
    this.#known = new Set(this.all);
    this.#wildcards = [...new Set(this.all.map(areaOf))].map((area) => `${area}:*`);
    this.presets = {
      'search-and-read': ['list:read', 'list-group:read', 'search-result:read'],
      'read-all': this.all.filter(isReadPermission),
      full: [],
    };
  }

  /** True for a name in the catalogue, an area's `<area>:*`, or `*`. */
  has(permission: string): boolean {
    return permission === '*' || this.#known.has(permission) || this.#wildcards.includes(permission);
  }

  /** Returns a sentence about an unknown permission, with the name that was probably meant. */
  unknownText(permission: string): string {
    const suggestion = nearest(permission, [...this.all, ...this.#wildcards]);
    const text = `There is no permission ${JSON.stringify(permission)}.`;
    return suggestion === undefined ? text : `${text} Did you mean ${JSON.stringify(suggestion)}?`;
  }
}

function areaOf(permission: string): string {
  return permission.slice(0, permission.indexOf(':'));
}

function inOrder(left: string, right: string): number {
  const [areas, actions] = [[left, right].map(areaOf), [left, right].map((each) => each.slice(each.indexOf(':') + 1))];
  return comparedIn(AREAS, areas as [string, string]) || comparedIn(ACTIONS, actions as [string, string]);
}

/** Unlisted names follow the listed ones, in alphabetical order. */
function comparedIn(order: readonly string[], [left, right]: readonly [string, string]): number {
  const [first, second] = [left, right].map((each) => (order.includes(each) ? order.indexOf(each) : order.length));
  return (first as number) - (second as number) || (left < right ? -1 : Number(left > right));
}

/** The permissions of a key, created once per key so that a check is one lookup. */
export class PermissionSet {
  readonly #everything: boolean;
  readonly #allowed: ReadonlySet<string>;

  /** An empty list, or one that contains `*`, allows everything. */
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
