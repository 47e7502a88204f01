/**
 * Reads the settings with which media stores are created and changed: checks them against the service's settings and
 * seals the secret.
 */
import {
  checkOutboundUrl,
  OutboundRefusedError,
  Secret,
  SecretUnreadableError,
  namedMember,
  ServiceError,
  serviceKey,
  type OutboundRules,
  type SecretBox,
} from '../platform/index.js';
import { folderSettings } from './folder/folder-settings.js';
import type { MediaStores } from './media-stores.js';
import { isStoreKind, sealedOf, storeKind, type StoreKind, type StoreMember } from './store-kinds.js';
import type { S3Settings, SettingsOf, StoreRow, StoreSettings } from './types.js';
import { STORE_UNAVAILABLE } from './media-problems.js';

export const STORE_SETTINGS = serviceKey<StoreSettingsReader>('media-store-settings');

const REGION_DEFAULT = 'us-east-1';

/** Members of a request. */
export type GivenSettings = Readonly<Partial<Record<StoreMember, string>>>;

/** Request to create a store or to change one (`before`): members not given stay as they were. */
interface Asked<Kept extends StoreSettings> {
  readonly account: string;
  readonly id: string;
  readonly given: GivenSettings;
  readonly before: Kept | undefined;
}

type Readers = { readonly [Kind in StoreKind]: (asked: Asked<SettingsOf<Kind>>) => SettingsOf<Kind> };

export interface StoreSettingsReaderOptions {
  readonly folders: readonly string[];
  readonly outbound: OutboundRules;
  readonly dataDir: string;
  readonly secrets: SecretBox;
  readonly stores: MediaStores;
}

export class StoreSettingsReader {
  private readonly readers: Readers = {
    folder: ({ account, given, before }) => this.folder(account, given.folder ?? before?.folder),
    s3: ({ id, given, before }) => this.s3(id, given, before),
  };

  constructor(private readonly options: StoreSettingsReaderOptions) {
    options.secrets.keptBy(() => this.reseal());
  }

  /** Throws `invalid-parameter` or `conflict`. */
  created(account: string, id: string, kind: StoreKind, given: GivenSettings): StoreSettings {
    return this.read(kind, { account, id, given, before: undefined });
  }

  /** Throws `invalid-parameter`, `conflict` or `store-unavailable`. */
  changed(row: StoreRow, given: GivenSettings): StoreSettings {
    assertKnownKind(row);
    const { account, id, settings } = row;
    return this.read(settings.kind, { account, id, given, before: settings });
  }

  /** Throws `store-unavailable` if the key that sealed the secret is gone. */
  secretOf({ id, name, settings }: StoreRow): Secret {
    try {
      return this.options.secrets.open(sealedOf(settings) ?? '', placeOf(id));
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error;
      throw new ServiceError(
        STORE_UNAVAILABLE,
        `The secret of the media store '${name}' cannot be decrypted: give it again.`,
        { cause: error },
      );
    }
  }

  /**
   * Returns a function that returns the secret each time it is called, even after everything was sealed with another
   * key, so that operations in flight can finish. If it cannot be opened, each call throws like `secretOf`.
   */
  keptSecretOf(row: StoreRow): () => Secret {
    const kept = this.hasSecret(row) ? this.secretOf(row) : undefined;
    return () => kept ?? this.secretOf(row);
  }

  hasSecret(row: StoreRow): boolean {
    if (sealedOf(row.settings) === undefined) return false;
    try {
      this.secretOf(row);
      return true;
    } catch {
      return false;
    }
  }

  private read(kind: StoreKind, asked: Asked<StoreSettings>): StoreSettings {
    assertMembers(kind, asked.given);
    // Stored settings belong to the kind of this reader.
    return (this.readers[kind] as (asked: Asked<StoreSettings>) => StoreSettings)(asked);
  }

  private folder(account: string, folder: string | undefined): SettingsOf<'folder'> {
    const { folders, dataDir, stores } = this.options;
    return folderSettings(account, folder, { allowed: folders, dataDir, stores: stores.all() });
  }

  private s3(id: string, given: GivenSettings, before: S3Settings | undefined): S3Settings {
    const endpoint = (given.endpoint ?? before?.endpoint)?.replace(/\/$/, '');
    const bucket = given.bucket ?? before?.bucket;
    const access_key_id = given.access_key_id ?? before?.access_key_id;
    const { secret_access_key: secret } = given;
    if (endpoint === undefined) throw missing('endpoint');
    if (bucket === undefined) throw missing('bucket');
    if (access_key_id === undefined) throw missing('access_key_id');
    const sealed =
      secret === undefined ? before?.secret_access_key : this.options.secrets.seal(new Secret(secret), placeOf(id));
    if (sealed === undefined) throw missing('secret_access_key');
    this.assertCallable(endpoint);
    const prefix = given.prefix ?? before?.prefix ?? '';
    return {
      kind: 's3',
      endpoint,
      region: given.region ?? before?.region ?? REGION_DEFAULT,
      bucket,
      prefix: prefix === '' || prefix.endsWith('/') ? prefix : `${prefix}/`,
      access_key_id,
      secret_access_key: sealed,
    };
  }

  private assertCallable(endpoint: string): void {
    try {
      checkOutboundUrl(endpoint, this.options.outbound);
    } catch (error) {
      if (!(error instanceof OutboundRefusedError)) throw error;
      throw fault('endpoint', error.message);
    }
  }

  /**
   * Seals the secrets with the current key. Secrets that cannot be opened stay as they are, since their key may come
   * back.
   */
  private reseal(): Promise<number> {
    const { secrets, stores } = this.options;
    return stores.reseal((row) => {
      const sealed = sealedOf(row.settings);
      const { secret } = storeKind(row.settings.kind);
      if (secret === undefined || sealed === undefined || secrets.isCurrent(sealed) || !this.hasSecret(row))
        return undefined;
      return { ...row.settings, [secret]: secrets.seal(this.secretOf(row), placeOf(row.id)) };
    });
  }
}

/** Throws `store-unavailable` for a store of a kind that only a later release knows, after a downgrade. */
export function assertKnownKind({ name, settings: { kind } }: StoreRow): void {
  if (isStoreKind(kind)) return;
  throw new ServiceError(
    STORE_UNAVAILABLE,
    `The media store '${name}' is of the kind '${String(kind)}', which this release does not support.`,
  );
}

function placeOf(id: string): string {
  return `media-store/${id}`;
}

function assertMembers(kind: StoreKind, given: GivenSettings): void {
  const { needed, others } = storeKind(kind);
  const known: readonly string[] = [...needed, ...others];
  const other = Object.keys(given).find((member) => !known.includes(member));
  if (other !== undefined)
    throw fault(
      other,
      `A media store of the kind '${kind}' does not take ${namedMember(other)}; it takes ${known.map(namedMember).join(', ')}.`,
    );
}

function missing(member: string): ServiceError {
  return fault(member, "A store of the kind 's3' needs this member.");
}

function fault(member: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', `/${member}: ${detail}`, {
    errors: [{ pointer: `/${member}`, detail }],
  });
}
