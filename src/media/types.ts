/** Media stores as stored in the collection `media-stores` of `data/system`, by `<account>/<name>`. */
export const DEFAULT_STORE = 'default';

export type StoreSettings = FolderSettings | S3Settings;
export type SettingsOf<Kind extends StoreSettings['kind']> = Extract<StoreSettings, { readonly kind: Kind }>;

export interface FolderSettings {
  readonly kind: 'folder';
  /** Absolute path without links. */
  readonly folder: string;
}

export interface S3Settings {
  readonly kind: 's3';
  /** `https://host[:port]`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Prefix of the key of every file; '' or ending with a slash. */
  readonly prefix: string;
  readonly access_key_id: string;
  /** Sealed. */
  readonly secret_access_key: string;
}

export interface StoreRow {
  /** Distinguishes a store from a deleted one of the same name. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly settings: StoreSettings;
  readonly created_utc: string;
  readonly modified_utc: string;
}
