/** Checks the reported creation and modification times of records against the order of the writes. */
import { holdsTrue, same } from './difference.js';
import type { ModelRecord } from './reference-list.js';

/** Times in milliseconds since 1970. */
export interface Times {
  readonly created_utc: number;
  readonly modified_utc: number;
}
interface ToldTimes {
  readonly created_utc: string;
  readonly modified_utc: string;
}

/** The only form of times in answers (contract 1). */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

export class RecordTimes {
  /** Creation times by the record's serial; `#modified` by serial and write. */
  readonly #created = new Map<number, number>();
  readonly #modified = new Map<string, number>();

  copy(): RecordTimes {
    const copy = new RecordTimes();
    for (const [key, time] of this.#created) copy.#created.set(key, time);
    for (const [key, time] of this.#modified) copy.#modified.set(key, time);
    return copy;
  }

  of(record: ModelRecord): Times | undefined {
    const [created, modified] = [this.#created.get(record.serial), this.#modified.get(keyOf(record))];
    return created === undefined || modified === undefined
      ? undefined
      : { created_utc: created, modified_utc: modified };
  }

  /**
   * Checks the reported times of all records of a list: no time changes without a write, and a later write has no
   * earlier time.
   */
  tell(all: readonly { readonly record: ModelRecord; readonly told: ToldTimes }[]): void {
    for (const { record, told } of all) {
      holdsTrue('form of a time', TIME.test(told.created_utc) && TIME.test(told.modified_utc), () => told);
      const [created, modified] = [Date.parse(told.created_utc), Date.parse(told.modified_utc)];
      same('created_utc of a record that was there', created, this.#created.get(record.serial) ?? created);
      same('modified_utc that nothing was written for', modified, this.#modified.get(keyOf(record)) ?? modified);
      holdsTrue('modified_utc no earlier than created_utc', modified >= created, () => [record.name, told]);
      this.#created.set(record.serial, created);
      this.#modified.set(keyOf(record), modified);
    }
    for (const by of ['created', 'modified'] as const) {
      const rows = all.map(({ record, told }) => ({ at: record[by], time: Date.parse(told[`${by}_utc`]) }));
      rows.sort((left, right) => left.at - right.at || left.time - right.time);
      const isLater = rows.every(({ time }, place) => time >= (rows[place - 1]?.time ?? time));
      holdsTrue(`${by}_utc in the order of the writes`, isLater, () => rows);
    }
  }
}

const keyOf = ({ serial, modified }: ModelRecord) => `${serial}/${modified}`;
