/** What a feature adds to lists: settings that a client may give, and members of the list's resource that tell of it. */
import type { TSchema } from 'typebox';
import type { ListRecord } from '../../catalog/index.js';
import type { ListOutline } from '../../index/index.js';
import type { Services } from './services.js';

export interface ListExtension {
  /** By their names in the resource. Their values are kept with the list (`ListRecord.features`) and copied with it. */
  readonly settings?: Readonly<Record<string, ListSetting>>;
  /** Read-only members by their names. */
  readonly members?: Readonly<Record<string, ListMember>>;
}

export interface ListSetting {
  readonly schema: TSchema;
  /** Of a list that was never given one. */
  readonly initial: unknown;
  /** Throws where the account's list cannot have the value, which fits the schema. */
  readonly check?: (services: Services, account: string, value: unknown) => void;
}

export interface ListMember {
  readonly schema: TSchema;
  /** `outline`: undefined for a list that is not open. An undefined value is left out of the resource. */
  readonly read: (services: Services, list: ListRecord, outline: ListOutline | undefined) => unknown;
}
