/**
 * Reads CSV rows from the pieces of an import. A malformed line costs no more than a valid one, since a file may
 * consist of malformed lines.
 */
import { isUtf8 } from 'node:buffer';
import { parse } from 'csv-parse/sync';
import type { CsvSeparator } from '../../records/index.js';
import type { RawRecords } from '../contract/ingest-tasks.js';
import type { DamagedCell } from './line-faults.js';

/** Cells of a line, or the reason why it cannot be read. */
export type CsvRow = readonly string[] | DamagedCell | 'no-csv' | 'no-utf8';

const QUOTE = 0x22;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Parses CSV; undefined if it is malformed. */
export function csvRows(bytes: Uint8Array, delimiter: CsvSeparator): string[][] | undefined {
  try {
    const options = { delimiter, bom: true, relax_column_count: true, skip_empty_lines: true };
    return parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), options);
  } catch {
    return undefined;
  }
}

/** Yields one row per record of the piece. */
export function* rowsOfPiece({ bytes, ends }: RawRecords, separator: CsvSeparator, read = csvRows): Generator<CsvRow> {
  const rowsOf = (from: number, to: number): string[][] | undefined => {
    const rows = read(bytes.subarray(from === 0 ? 0 : ends[from - 1], ends[to - 1]), separator);
    return rows?.length === to - from ? rows : undefined;
  };
  const whole = isUtf8(bytes) ? rowsOf(0, ends.length) : undefined;
  if (whole !== undefined) return yield* whole;

  // Damaged quotes may make the parser cut the rows of the piece wrongly. So lines with damaged quotes are found first,
  // and the lines between two of them are parsed together if that gives one row per line, and line by line otherwise:
  // starting the parser costs ten times as much as reading a short line.
  const readRun = function* (from: number, to: number): Generator<CsvRow> {
    const rows = from === to ? [] : rowsOf(from, to);
    if (rows !== undefined) return yield* rows;
    for (let at = from; at < to; at += 1) yield read(lineOf(at), separator)?.[0] ?? 'no-csv';
  };
  const lineOf = (at: number) => bytes.subarray(at === 0 ? 0 : ends[at - 1], ends[at]);
  let begin = 0;
  for (let at = 0; at < ends.length; at += 1) {
    const line = lineOf(at);
    const fault = isUtf8(line) ? damagedCell(line, separator.charCodeAt(0)) : 'no-utf8';
    if (fault === undefined && !hasReturn(line)) continue;
    yield* readRun(begin, at);
    if (fault === undefined) yield* readRun(at, at + 1);
    else yield fault;
    begin = at + 1;
  }
  yield* readRun(begin, ends.length);
}

/**
 * True if the line contains a carriage return other than that of its line end: the parser might read it as two lines.
 */
function hasReturn(line: Uint8Array): boolean {
  const at = line.indexOf(CARRIAGE_RETURN);
  return at >= 0 && at !== line.length - 2;
}

/** Finds a misplaced quote in a line. What it misses is found when the line is parsed. */
function damagedCell(line: Uint8Array, separator: number): DamagedCell | undefined {
  const isEnd = (byte: number | undefined) =>
    byte === undefined || byte === separator || byte === LINE_FEED || byte === CARRIAGE_RETURN;
  const damage = (place: number, fault: DamagedCell['fault']) => ({
    cell: () => cellAt(line, place, separator),
    fault,
  });
  const begin = BYTE_ORDER_MARK.equals(line.subarray(0, BYTE_ORDER_MARK.length)) ? BYTE_ORDER_MARK.length : 0;
  let at = line.indexOf(QUOTE, begin);
  while (at >= 0) {
    if (at > begin && !isEnd(line[at - 1])) return damage(at, 'quote-within');
    let closing = line.indexOf(QUOTE, at + 1);
    while (closing >= 0 && line[closing + 1] === QUOTE) closing = line.indexOf(QUOTE, closing + 2);
    if (closing < 0) return damage(at, 'open-quote');
    if (!isEnd(line[closing + 1])) return damage(at, 'text-behind-quote');
    at = line.indexOf(QUOTE, closing + 1);
  }
  return undefined;
}

/** Returns the position in the row of the cell that contains byte `at`. Every quote before it must be closed. */
function cellAt(line: Uint8Array, at: number, separator: number): number {
  let cell = 0;
  let isQuoted = false;
  for (let before = 0; before < at; before += 1) {
    if (line[before] === QUOTE) isQuoted = !isQuoted;
    else if (line[before] === separator && !isQuoted) cell += 1;
  }
  return cell;
}
