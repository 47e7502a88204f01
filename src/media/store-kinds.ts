/**
 * The kinds of media stores that can be added, each with what it is told of where its files are. A new kind is a row here, its settings in `types.ts`, and what
 * reads and opens it (`store-settings.ts`, `media-parts.ts`); where one is missing the types say so. Schemas, checks, who may add it, the options of
 * `gannet media-store add` and the form of the console come from here. Plain data: the command line reads it before anything is loaded.
 */
import type { StoreSettings } from './types.js';

interface StoreKindRow {
  readonly described: string;
  /** Members of a request without which there is no such store, and others. */
  readonly needed: readonly StoreMember[];
  readonly others: readonly StoreMember[];
  /** The one of these that is kept sealed. Such a store is not made with an API key. */
  readonly secret?: StoreMember;
}

interface MemberRow {
  /** On the command line: what stands for its value, and what it is. Absent of secrets, which are asked for. */
  readonly option?: readonly [value: string, described: string];
  /** Opens a door: not shown again. */
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
  folder: { described: 'a folder of the machine', needed: ['folder'], others: [] },
  s3: {
    described: 'a bucket of a server that speaks S3; on the console and the command line only',
    needed: ['endpoint', 'bucket', 'access_key_id', 'secret_access_key'],
    others: ['region', 'prefix'],
    secret: 'secret_access_key',
  },
} as const satisfies Readonly<Record<string, StoreKindRow>>;
export type StoreKind = keyof typeof STORE_KINDS;

/** Of a store that a later release added before this one came back: what it has is not known here, so nothing of it is shown or sealed anew. */
const OF_LATER_RELEASE: StoreKindRow = { described: '', needed: [], others: [] };

export function isStoreKind(kind: string): kind is StoreKind {
  return Object.hasOwn(STORE_KINDS, kind);
}

export function storeKind(kind: StoreKind): StoreKindRow {
  return isStoreKind(kind) ? STORE_KINDS[kind] : OF_LATER_RELEASE;
}

/** What is sealed in the settings of a store; undefined where nothing is. */
export function sealedOf(settings: StoreSettings): string | undefined {
  const { secret } = storeKind(settings.kind);
  return secret === undefined ? undefined : (settings as Readonly<Partial<Record<StoreMember, string>>>)[secret];
}

/** What is shown of the settings of a store. */
export function shownSettings(settings: StoreSettings): Partial<Record<ShownMember, string>> {
  const { needed, others } = storeKind(settings.kind);
  const shown = [...needed, ...others].filter((member) => !('isHidden' in STORE_MEMBERS[member]));
  const held = settings as Readonly<Partial<Record<StoreMember, string>>>;
  return Object.fromEntries(shown.map((member) => [member, held[member]]));
}
