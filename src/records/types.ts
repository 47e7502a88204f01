/** Types of records that the layers above share; `src/index/contract/types.ts` holds the public ones. */

/** A field value as JSON. `null` never occurs in a stored record. */
export type FieldValue =
  | string
  | number
  | boolean
  | readonly (string | number | boolean)[]
  | { readonly latitude: number; readonly longitude: number };

export interface RecordResource {
  readonly id: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldValue>>;
  readonly as_of: string;
  /** What keeps the record as its source has it; absent where nothing does. */
  readonly source?: string;
  readonly created_utc: string;
  readonly modified_utc: string;
}
