/** Types of records that the layers above share; the public ones are in `src/index/contract/types.ts`. */

/** A field value as JSON. `null` never occurs in a stored record. */
export type FieldValue =
  | string
  | number
  | boolean
  | readonly (string | number | boolean)[]
  | { readonly latitude: number; readonly longitude: number };

/** A stored record, independent of the format of its bytes. */
export interface StoredRecord {
  readonly id: string;
  readonly name: string;
  /** True if the client gave no name, so that the id became the name. */
  readonly nameGenerated: boolean;
  readonly asOf: string;
  /**
   * Source that the record belongs to, if something keeps it as its source has it: `feed:news`,
   * `media:default/films.csv`.
   */
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
  /** Source that the record belongs to; absent if there is none. */
  readonly source?: string;
  readonly created_utc: string;
  readonly modified_utc: string;
}
