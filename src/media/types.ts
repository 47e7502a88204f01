/** Media stores as they are kept: the collection `media-stores` of `data/system`, by `<account>/<name>`. */
export const DEFAULT_STORE = 'default';

export type StoreSettings = FolderSettings | S3Settings;
export type SettingsOf<Kind extends StoreSettings['kind']> = Extract<StoreSettings, { readonly kind: Kind }>;

export interface FolderSettings {
  readonly kind: 'folder';
  /** Absolute, without links in it. */
  readonly folder: string;
}

export interface S3Settings {
  readonly kind: 's3';
  /** `https://host[:port]`. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** Begins the key of every file; '' or ending with a slash. */
  readonly prefix: string;
  readonly access_key_id: string;
  /** Sealed. */
  readonly secret_access_key: string;
}

export interface StoreRow {
  /** A store that takes the name of one that was deleted is another one. */
  readonly id: string;
  readonly account: string;
  readonly name: string;
  readonly settings: StoreSettings;
  readonly created_utc: string;
  readonly modified_utc: string;
}
