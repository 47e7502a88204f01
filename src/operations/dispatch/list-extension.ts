/** What a feature adds to lists: settings that clients may give, and read-only members of the list resource. */
import type { TSchema } from 'typebox';
import type { ListRecord } from '../../catalog/index.js';
import type { ListOutline } from '../../index/index.js';
import type { Services } from './services.js';

export interface ListExtension {
  /**
   * Settings by their names in the resource. Values are stored with the list (`ListRecord.features`) and copied with
   * it.
   */
  readonly settings?: Readonly<Record<string, ListSetting>>;
  /** Read-only members by name. */
  readonly members?: Readonly<Record<string, ListMember>>;
}

export interface ListSetting {
  readonly schema: TSchema;
  /** Value of a list that was never given one. */
  readonly initial: unknown;
  /** Throws if a list of the account cannot have the value, which fits the schema. */
  readonly check?: (services: Services, account: string, value: unknown) => void;
}

export interface ListMember {
  readonly schema: TSchema;
  /** `outline`: undefined for a list that is not open. An undefined value is left out of the resource. */
  readonly read: (services: Services, list: ListRecord, outline: ListOutline | undefined) => unknown;
}
