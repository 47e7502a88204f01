/** What a media store is made and changed with: checked against the settings of the service, its secret sealed. */
import {
  checkOutboundUrl,
  OutboundRefusedError,
  Secret,
  SecretUnreadableError,
  ServiceError,
  serviceKey,
  type OutboundRules,
  type SecretBox,
} from '../platform/index.js';
import { folderSettings } from './folder/folder-settings.js';
import type { MediaStores } from './media-stores.js';
import type { S3Settings, StoreRow, StoreSettings } from './types.js';
import { STORE_UNAVAILABLE } from './media-problems.js';

export const STORE_SETTINGS = serviceKey<StoreSettingsReader>('media-store-settings');

const REGION_DEFAULT = 'us-east-1';
const MEMBERS = {
  folder: ['folder'],
  s3: ['endpoint', 'region', 'bucket', 'prefix', 'access_key_id', 'secret_access_key'],
} as const;

/** Members of a request. */
export interface GivenSettings {
  readonly folder?: string;
  readonly endpoint?: string;
  readonly region?: string;
  readonly bucket?: string;
  readonly prefix?: string;
  readonly access_key_id?: string;
  readonly secret_access_key?: string;
}

export interface StoreSettingsReaderOptions {
  readonly folders: readonly string[];
  readonly outbound: OutboundRules;
  readonly dataDir: string;
  readonly secrets: SecretBox;
  readonly stores: MediaStores;
}

export class StoreSettingsReader {
  constructor(private readonly options: StoreSettingsReaderOptions) {
    options.secrets.keptBy(() => this.reseal());
  }

  /** Throws `invalid-parameter`, `conflict`. */
  created(account: string, id: string, kind: 'folder' | 's3', given: GivenSettings): StoreSettings {
    assertMembers(kind, given);
    return kind === 'folder' ? this.folder(account, given.folder) : this.s3(id, given, undefined);
  }

  /** Throws `invalid-parameter`, `conflict`. */
  changed({ account, id, settings }: StoreRow, given: GivenSettings): StoreSettings {
    assertMembers(settings.kind, given);
    if (settings.kind === 'folder') return this.folder(account, given.folder ?? settings.folder);
    return this.s3(id, given, settings);
  }

  /** Throws `store-unavailable` where the key that sealed it is gone. */
  secretOf({ id, name }: StoreRow, { secret_access_key: sealed }: S3Settings): Secret {
    try {
      return this.options.secrets.open(sealed, placeOf(id));
    } catch (error) {
      if (!(error instanceof SecretUnreadableError)) throw error;
      throw new ServiceError(
        STORE_UNAVAILABLE,
        `The secret of the media store '${name}' cannot be opened: give it again.`,
        { cause: error },
      );
    }
  }

  /**
   * Gives it as often as it is asked for: what is under way goes on when everything is sealed by another key. Where it cannot be opened, each call throws
   * as `secretOf` does.
   */
  keptSecretOf(row: StoreRow, settings: S3Settings): () => Secret {
    const kept = this.hasSecret(row) ? this.secretOf(row, settings) : undefined;
    return () => kept ?? this.secretOf(row, settings);
  }

  hasSecret(row: StoreRow): boolean {
    if (row.settings.kind !== 's3') return false;
    try {
      this.secretOf(row, row.settings);
      return true;
    } catch {
      return false;
    }
  }

  private folder(account: string, folder: string | undefined): StoreSettings {
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

  /** Secrets that cannot be opened stay as they are: the key may come back. */
  private reseal(): Promise<number> {
    const { secrets, stores } = this.options;
    return stores.reseal((row) => {
      const { settings } = row;
      if (settings.kind !== 's3' || secrets.isCurrent(settings.secret_access_key) || !this.hasSecret(row))
        return undefined;
      return { ...settings, secret_access_key: secrets.seal(this.secretOf(row, settings), placeOf(row.id)) };
    });
  }
}

function placeOf(id: string): string {
  return `media-store/${id}`;
}

function assertMembers(kind: 'folder' | 's3', given: GivenSettings): void {
  const known: readonly string[] = MEMBERS[kind];
  const other = Object.keys(given).find((member) => !known.includes(member));
  if (other !== undefined) throw fault(other, `A store of the kind '${kind}' has ${known.join(', ')}.`);
}

function missing(member: string): ServiceError {
  return fault(member, "A store of the kind 's3' needs this member.");
}

function fault(member: string, detail: string): ServiceError {
  return new ServiceError('invalid-parameter', `/${member}: ${detail}`, {
    errors: [{ pointer: `/${member}`, detail }],
  });
}
