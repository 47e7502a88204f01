/**
 * What a provider tells while it reads its source once, and the outcome of the run. The same for all five providers.
 */

export type FieldScalar = string | number | boolean;
export type FieldValue = FieldScalar | readonly FieldScalar[];

export interface SourceRecord {
  /** Identifies the record in the source. */
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldValue>>;
}

/** Returns the fields without the empty ones. */
export function givenFields(fields: Readonly<Record<string, FieldValue | undefined>>): Record<string, FieldValue> {
  const given = Object.entries(fields).filter(
    (entry): entry is [string, FieldValue] =>
      entry[1] !== undefined && entry[1] !== '' && !(Array.isArray(entry[1]) && entry[1].length === 0),
  );
  return Object.fromEntries(given);
}

/** Told what the source has, in any order. */
export interface SourceListener {
  /** The record exists, with these fields. The provider does not compare it with the last run. */
  record(record: SourceRecord): void;
  /** The record exists and is unchanged. `otherwise`: the record to be used if the synced file no longer has it. */
  unchanged(name: string, otherwise?: SourceRecord): void;
  /** There is evidence that the record is gone: its address answers 404 or 410, or the source deleted it. */
  gone(name: string): void;
  skipped(what: string, why: string): void;
}

export interface SourceOutcome {
  /** True if everything in the source was listed. Only then a record that was not mentioned is gone. */
  readonly isComplete: boolean;
  readonly requests: number;
  readonly bytes: number;
  /** The source asked not to be read again before this time has passed. */
  readonly retryAfterMs?: number;
}

/** Thrown if the source could not be read. The message is a sentence for the owner of the feed, without secrets. */
export class SourceFailedError extends Error {
  override readonly name = 'SourceFailedError';

  constructor(
    message: string,
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * The reason of the signal of a run whose time is over. A source whose next run can continue where this one stopped
 * then ends without an error.
 */
export class RunTimeOverError extends SourceFailedError {
  constructor(minutes: number) {
    super(`The time of a run was over (feeds.run_minutes_max = ${minutes}).`);
  }
}

/**
 * Thrown if the source has an empty listing although it had records. A source that has lost its records looks the same
 * as one whose records were all deleted.
 */
export class SourceEmptiedError extends SourceFailedError {
  constructor(records: number) {
    const kept = records === 1 ? 'The record that it had is kept' : `The ${records} records that it had are kept`;
    super(`The source answers, and lists nothing any more. ${kept}, until it has been like that for a day.`);
  }
}
