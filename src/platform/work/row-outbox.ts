/**
 * An outbox holds messages about changes until they are moved on. A row is written in the transaction of its change, so
 * neither exists without the other. A relay (`outbox-relay.ts`) moves rows into a queue and remembers how far it came,
 * and a later transaction of the writer removes the moved rows.
 *
 * Rows of one outbox are numbered from 1, without reuse; the writer stores the next number with its own state.
 * Thread-safety: an outbox object belongs to one thread; one thread writes, another may read.
 */
import type { Database } from 'lmdb';

export const FIRST_OUTBOX_ROW = 1;
/** Limit of rows that one transaction removes, and so of what a small write pays for a large deletion before it. */
export const REMOVED_ROWS_MAX = 10_000;

export interface NumberedRow<Row> {
  readonly row: number;
  readonly content: Row;
}

/** Encoding of rows in the database. */
export interface RowCodec<Row, Stored> {
  encode(row: Row): Stored;
  decode(stored: Stored): Row;
  /** Estimated bytes of a row; bounds memory. */
  bytesOf(row: Row): number;
}

export class RowOutbox<Row, Stored> {
  constructor(
    private readonly database: Database<Stored, number>,
    private readonly codec: RowCodec<Row, Stored>,
  ) {}

  /** Appends rows, inside the transaction of the change. Returns the next number. */
  append(firstRow: number, rows: readonly Row[]): number {
    let row = firstRow;
    for (const content of rows) {
      void this.database.putSync(row, this.codec.encode(content));
      row += 1;
    }
    return row;
  }

  /** Removes rows up to `lastRow`, which are in the queue already. Inside a transaction of the writer. */
  removeMoved(lastRow: number): void {
    const moved = Array.from(this.database.getKeys({ start: 0, end: lastRow + 1, limit: REMOVED_ROWS_MAX }));
    for (const row of moved) this.database.removeSync(row);
  }

  /** Returns the rows after `afterRow` in order, as many as fit the bounds, but at least one if there is one. */
  read(afterRow: number, bounds?: { rowsMax: number; bytesMax: number }): NumberedRow<Row>[] {
    const rows: NumberedRow<Row>[] = [];
    let bytes = 0;
    const { rowsMax = Number.MAX_SAFE_INTEGER, bytesMax = Infinity } = bounds ?? {};
    for (const { key, value } of this.database.getRange({ start: afterRow + 1, limit: rowsMax })) {
      const content = this.codec.decode(value);
      rows.push({ row: key, content });
      bytes += this.codec.bytesOf(content);
      if (bytes >= bytesMax) break;
    }
    return rows;
  }
}
