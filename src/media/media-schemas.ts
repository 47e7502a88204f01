/** Schemas of media stores and of the files in them. */
import { Type, type TSchema } from 'typebox';
import { WEB_SCHEME_PATTERN } from '../platform/index.js';
import {
  accountName,
  nameSchema,
  nullable,
  named,
  object,
  oneKindOf,
  oneOf,
  patterned,
  timeSchema,
} from '../operations/index.js';
import { PATH_BYTES_MAX, PATH_CHARACTERS_MAX } from './media-path.js';
import type { StoredFile, StoreUsage } from './media-store.js';
import {
  shownSettings,
  STORE_KINDS,
  storeKind,
  type ShownMember,
  type StoreKind,
  type StoreMember,
} from './store-kinds.js';
import { DEFAULT_STORE, type StoreRow } from './types.js';

const storeName = nameSchema('Name of the media store', DEFAULT_STORE);
export const storeParams = object({ account: accountName, store: storeName });

export const filePath = Type.String({
  minLength: 1,
  description: `Path of the file: 1 to ${PATH_CHARACTERS_MAX} characters (at most ${PATH_BYTES_MAX} bytes in UTF-8) without control characters; its parts between slashes are neither empty nor \`.\` or \`..\``,
  examples: ['manuals/pump.pdf'],
});
export const fileParams = object({ account: accountName, store: storeName, path: filePath });

const folder = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'For the kind `folder`: absolute path of the folder, in one of the `media.folders` of the settings',
});
const ENDPOINT_WORDS =
  'a URL that begins with https:// or http:// and has a server alone, without user name, bucket and path';
const s3Members = {
  endpoint: patterned(`^${WEB_SCHEME_PATTERN}[^\\s\\/?#@]+/?$`, ENDPOINT_WORDS, {
    maxLength: 512,
    description: 'For the kind `s3`: URL of the server, without bucket and path',
    examples: ['https://s3.eu-central-1.amazonaws.com'],
  }),
  region: patterned('^[a-z0-9\\-]{1,64}$', '1 to 64 lower-case letters, digits and hyphens', {
    description: 'For the kind `s3`: region of the bucket; default `us-east-1`',
    examples: ['eu-central-1'],
  }),
  bucket: patterned(
    '^[A-Za-z0-9][A-Za-z0-9._\\-]{1,254}$',
    '2 to 255 letters, digits, dots, hyphens and underscores, the first a letter or digit',
    { description: 'For the kind `s3`: name of the bucket', examples: ['company-files'] },
  ),
  prefix: Type.String({
    maxLength: 256,
    description: 'For the kind `s3`: prefix of the keys of all files of the store; default none',
  }),
};
const access_key_id = patterned('^[\\x21-\\x7e]{1,256}$', '1 to 256 characters of ASCII without blanks', {
  description: 'For the kind `s3`: id of the access key',
});
const secret_access_key = patterned('^[\\x21-\\x7e]{1,512}$', '1 to 512 characters of ASCII without blanks', {
  writeOnly: true,
  description: 'For the kind `s3`: secret of the access key. It is stored encrypted and never returned',
});

/** Settings with which a store of any kind is created or changed. */
const storeSettings = {
  folder: Type.Optional(folder),
  endpoint: Type.Optional(s3Members.endpoint),
  region: Type.Optional(s3Members.region),
  bucket: Type.Optional(s3Members.bucket),
  prefix: Type.Optional(s3Members.prefix),
  access_key_id: Type.Optional(access_key_id),
  secret_access_key: Type.Optional(secret_access_key),
} satisfies Readonly<Record<StoreMember, TSchema>>;

/** Settings that are shown. */
const { access_key_id: _id, secret_access_key: _secret, ...shownMembers } = storeSettings;

export const newStore = named(
  'NewMediaStore',
  {
    name: storeName,
    kind: oneKindOf(STORE_KINDS),
    ...storeSettings,
  },
  { description: 'A media store to add' },
);

export const changedStore = object(storeSettings);

export const storeResource = named(
  'MediaStore',
  {
    name: storeName,
    account: accountName,
    kind: oneOf(['built-in', ...(Object.keys(STORE_KINDS) as StoreKind[])], {
      description: 'Kind of the store. `built-in`: the store `default`, which every account has',
    }),
    bytes_used: nullable(Type.Integer({ minimum: 0 }), {
      description: 'Bytes of all files in the store. Null if the store does not count them',
    }),
    bytes_max: nullable(Type.Integer({ minimum: 0 }), {
      description: 'Most bytes that the store can hold. Null if it has no limit of its own',
    }),
    file_count: nullable(Type.Integer({ minimum: 0 }), {
      description: 'Number of files in the store. Null if the store does not count them',
    }),
    ...(shownMembers satisfies Readonly<Record<ShownMember, TSchema>>),
    has_secret: Type.Optional(
      Type.Boolean({ description: 'For the kind `s3`: whether the stored secret can be decrypted' }),
    ),
    created_utc: nullable(timeSchema('Time at which the store was added'), {
      description: 'Time at which the store was added. Null for the built-in store',
    }),
    modified_utc: nullable(timeSchema('Time of the last change'), {
      description: 'Time of the last change. Null for the built-in store',
    }),
  },
  { description: 'A media store: a place that holds files' },
);

const etag = Type.String({
  description: 'ETag of the file, as in the header `ETag`. It changes with the content',
  examples: ['"xyzzy"'],
});

export const fileResource = named(
  'MediaFile',
  {
    path: filePath,
    bytes: Type.Integer({ minimum: 0, description: 'Size of the file in bytes' }),
    content_type: Type.String({
      description:
        'Content type of the file: the one that it was uploaded with, or else one derived from its name. In a store of the kind `folder`, always derived from the name',
      examples: ['application/pdf'],
    }),
    etag,
    modified_utc: timeSchema('Time at which the present content was written'),
  },
  { description: 'A file in a media store' },
);

export function describeFile({ path, bytes, contentType, etag, modifiedUtc }: StoredFile) {
  return { path, bytes, content_type: contentType, etag: `"${etag}"`, modified_utc: modifiedUtc };
}

/** `row` is undefined for the built-in store. */
export function describeStore(account: string, row: StoreRow | undefined, usage: StoreUsage, hasSecret: boolean) {
  const { bytesUsed, bytesMax, fileCount } = usage;
  return {
    name: row?.name ?? DEFAULT_STORE,
    account,
    kind: row?.settings.kind ?? 'built-in',
    bytes_used: bytesUsed,
    bytes_max: bytesMax,
    file_count: fileCount,
    ...(row === undefined ? {} : describeSettings(row, hasSecret)),
    created_utc: row?.created_utc ?? null,
    modified_utc: row?.modified_utc ?? null,
  };
}

/** Returns the settings without credentials. */
function describeSettings({ settings }: StoreRow, hasSecret: boolean) {
  const has = storeKind(settings.kind).secret === undefined ? {} : { has_secret: hasSecret };
  return { ...shownSettings(settings), ...has };
}
