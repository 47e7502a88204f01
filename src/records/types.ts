/** Types of records that the layers above share; `src/index/contract/types.ts` holds the public ones. */

/** A field value as JSON. `null` never occurs in a stored record. */
export type FieldValue =
  | string
  | number
  | boolean
  | readonly (string | number | boolean)[]
  | { readonly latitude: number; readonly longitude: number };

/** A record as it is stored, whatever the format of its bytes. */
export interface StoredRecord {
  readonly id: string;
  readonly name: string;
  /** True where the client gave no name and the id took its place. */
  readonly nameGenerated: boolean;
  readonly asOf: string;
  /** What it came from, where something keeps it as its source has it: `feed:news`, `media:default/films.csv`. */
  readonly source?: string | undefined;
  readonly createdMs: number;
  readonly modifiedMs: number;
  /** JSON object of the fields in their final form. */
  readonly fieldsJson: string;
}

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
