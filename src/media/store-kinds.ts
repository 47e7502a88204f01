/**
 * Kinds of media stores that can be added, with the settings of each. A new kind is a row here, its settings in
 * `types.ts`, and the code that reads and opens it (`store-settings.ts`, `media-parts.ts`); the compiler reports
 * missing ones. Schemas, checks, permissions, options of `gannet media-store add` and the console's form derive from
 * the rows. Plain data, since the command line reads it before anything is loaded.
 */
import type { StoreSettings } from './types.js';

interface StoreKindRow {
  readonly described: string;
  /** Required and optional members of a request. */
  readonly needed: readonly StoreMember[];
  readonly others: readonly StoreMember[];
  /** Member that is stored sealed. A store with a secret cannot be created with an API key. */
  readonly secret?: StoreMember;
}

interface MemberRow {
  /** Command-line option: placeholder of its value, and description. Undefined for secrets, which are prompted for. */
  readonly option?: readonly [value: string, described: string];
  /** Set for credentials, which are never shown. */
  readonly isHidden?: true;
}

/** In the order of the command line's help. */
export const STORE_MEMBERS = {
  folder: {
    option: [
      'path',
      'for --kind folder: an absolute path, in a folder that the setting media.folders names (GANNET_MEDIA_FOLDERS)',
    ],
  },
  endpoint: {
    option: ['url', "for --kind s3: address of the bucket's server, such as https://s3.eu-central-1.amazonaws.com"],
  },
  region: { option: ['name', 'for --kind s3: region of the bucket (default: us-east-1)'] },
  bucket: { option: ['name', 'for --kind s3: name of the bucket'] },
  prefix: { option: ['text', 'for --kind s3: beginning of the key of every file'] },
  access_key_id: {
    option: ['id', 'for --kind s3: id of the access key; its secret is asked for, or read from standard input'],
    isHidden: true,
  },
  secret_access_key: { isHidden: true },
} as const satisfies Readonly<Record<string, MemberRow>>;
export type StoreMember = keyof typeof STORE_MEMBERS;
export type ShownMember = {
  [Member in StoreMember]: (typeof STORE_MEMBERS)[Member] extends { readonly isHidden: true } ? never : Member;
}[StoreMember];

export const STORE_KINDS = {
  folder: { described: 'a folder on the machine of the service', needed: ['folder'], others: [] },
  s3: {
    described: 'a bucket of a server that speaks the S3 protocol; only on the console and the command line',
    needed: ['endpoint', 'bucket', 'access_key_id', 'secret_access_key'],
    others: ['region', 'prefix'],
    secret: 'secret_access_key',
  },
} as const satisfies Readonly<Record<string, StoreKindRow>>;
export type StoreKind = keyof typeof STORE_KINDS;

/**
 * Stands for kinds of a later release, after a downgrade: their settings are unknown here, so nothing of them is shown
 * or sealed anew.
 */
const OF_LATER_RELEASE: StoreKindRow = { described: '', needed: [], others: [] };

export function isStoreKind(kind: string): kind is StoreKind {
  return Object.hasOwn(STORE_KINDS, kind);
}

export function storeKind(kind: StoreKind): StoreKindRow {
  return isStoreKind(kind) ? STORE_KINDS[kind] : OF_LATER_RELEASE;
}

/** Returns the sealed secret of a store's settings. Undefined if there is none. */
export function sealedOf(settings: StoreSettings): string | undefined {
  const { secret } = storeKind(settings.kind);
  return secret === undefined ? undefined : (settings as Readonly<Partial<Record<StoreMember, string>>>)[secret];
}

/** Returns the settings that may be shown. */
export function shownSettings(settings: StoreSettings): Partial<Record<ShownMember, string>> {
  const { needed, others } = storeKind(settings.kind);
  const shown = [...needed, ...others].filter((member) => !('isHidden' in STORE_MEMBERS[member]));
  const held = settings as Readonly<Partial<Record<StoreMember, string>>>;
  return Object.fromEntries(shown.map((member) => [member, held[member]]));
}
