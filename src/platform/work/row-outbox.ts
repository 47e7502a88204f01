/**
 * What is to be told of a change, between the change and whoever is told. A row is written in the transaction of the change, so that
 * there is neither a change without its row nor a row without its change; a relay (`outbox-relay.ts`) moves rows on into a queue and
 * remembers how far it came, and a later transaction of the writer removes what was moved.
 *
 * Rows of one outbox are numbered from 1 without reuse; whoever writes keeps the next number with its own state.
 * Thread-safety: an outbox belongs to one thread; one thread writes, another may read.
 */
import type { Database } from 'lmdb';

export const FIRST_OUTBOX_ROW = 1;
/** Rows that one transaction removes; bounds what a small write pays for a large deletion before it. */
export const REMOVED_ROWS_MAX = 10_000;

export interface NumberedRow<Row> {
  readonly row: number;
  readonly content: Row;
}

/** How rows are kept. */
export interface RowCodec<Row, Stored> {
  encode(row: Row): Stored;
  decode(stored: Stored): Row;
  /** About; bounds what is in memory. */
  bytesOf(row: Row): number;
}

export class RowOutbox<Row, Stored> {
  constructor(
    private readonly database: Database<Stored, number>,
    private readonly codec: RowCodec<Row, Stored>,
  ) {}

  /** Inside the transaction of the change. Returns the next number. */
  append(firstRow: number, rows: readonly Row[]): number {
    let row = firstRow;
    for (const content of rows) {
      void this.database.putSync(row, this.codec.encode(content));
      row += 1;
    }
    return row;
  }

  /** Inside a transaction of the writer: removes rows up to this number that are in the queue already. */
  removeMoved(lastRow: number): void {
    const moved = Array.from(this.database.getKeys({ start: 0, end: lastRow + 1, limit: REMOVED_ROWS_MAX }));
    for (const row of moved) this.database.removeSync(row);
  }

  /** The rows behind this number in their order, as many as fit the bounds and at least one where there is one. */
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
