/** What a provider says while it reads its source once, and what the run comes to. The same for all five. */

export type FieldScalar = string | number | boolean;
export type FieldValue = FieldScalar | readonly FieldScalar[];

export interface SourceRecord {
  /** Its identity in the source. */
  readonly name: string;
  readonly fields: Readonly<Record<string, FieldValue>>;
}

/** Without those that hold nothing. */
export function givenFields(fields: Readonly<Record<string, FieldValue | undefined>>): Record<string, FieldValue> {
  const given = Object.entries(fields).filter(
    (entry): entry is [string, FieldValue] =>
      entry[1] !== undefined && entry[1] !== '' && !(Array.isArray(entry[1]) && entry[1].length === 0),
  );
  return Object.fromEntries(given);
}

/** Is told of what the source has, in any order. */
export interface SourceListener {
  /** The record is there, as given; whether it differs from last time is not the provider's business. */
  record(record: SourceRecord): void;
  /** The record is there and stays as it was. `otherwise`: as it is to be where the file has lost it. */
  unchanged(name: string, otherwise?: SourceRecord): void;
  /** There is evidence that the record is gone: its address answers 404 or 410, or the source deleted it. */
  gone(name: string): void;
  skipped(what: string, why: string): void;
}

export interface SourceOutcome {
  /** True where everything that the source has was listed: only then what was not mentioned is gone. */
  readonly isComplete: boolean;
  readonly requests: number;
  readonly bytes: number;
  /** The source asked not to be asked again before so long. */
  readonly retryAfterMs?: number;
}

/** The source could not be read. The message is a sentence for whoever owns the feed, without secrets. */
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

/** The reason of a run's signal whose time is over. A source that can go on from where it is at the next run ends by itself then. */
export class RunTimeOverError extends SourceFailedError {
  constructor(minutes: number) {
    super(`The time of a run was over (feeds.run_minutes_max = ${minutes}).`);
  }
}

/** The source lists nothing where it had records: one that has lost them looks like one whose records were all deleted. */
export class SourceEmptiedError extends SourceFailedError {
  constructor(records: number) {
    const kept = records === 1 ? 'The record that it had is kept' : `The ${records} records that it had are kept`;
    super(`The source answers, and lists nothing any more. ${kept}, until it has been like that for a day.`);
  }
}
