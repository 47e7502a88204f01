/** Output of the command line: numbers, times, tables and emphasis on a terminal, plain text elsewhere. */

import { WatchedStream } from './watched-stream.js';

/** Output of a command. Injected, so that commands can be tested without a terminal. */
export interface Output {
  readonly isTerminal: boolean;
  /** Characters per line; 80 if unknown. */
  readonly columns: number;
  /** Throws a CommandError once standard output has failed. */
  write(text: string): void;
  /** Resolves when everything has been written. Rejects with a CommandError if that failed. */
  settle(): Promise<void>;
  /** Writes remarks and errors to standard error. Never fails, since nobody could be told. */
  note(text: string): void;
}

/** Returns standard output and standard error of this process, watched for errors from now on. */
export function openStandardOutput(): Output {
  const standardOutput = new WatchedStream(process.stdout, 'Standard output');
  const standardError = new WatchedStream(process.stderr, 'Standard error');
  return {
    get isTerminal() {
      return process.stdout.isTTY && process.env['TERM'] !== 'dumb' && process.env['NO_COLOR'] === undefined;
    },
    get columns() {
      return process.stdout.columns || 80;
    },
    write: (text) => {
      standardOutput.write(text);
    },
    settle: () => standardOutput.settle(),
    note: (text) => {
      try {
        // Remarks may repeat untrusted text, such as field names.
        standardError.write(printableLines(text));
      } catch {
        // Its reader is gone; the exit status still tells.
      }
    },
  };
}

const STYLES = {
  bold: ['1', '22'],
  dim: ['2', '22'],
  green: ['32', '39'],
  red: ['31', '39'],
  yellow: ['33', '39'],
} as const;
export type Style = keyof typeof STYLES;

export function styled(output: Output, style: Style, text: string): string {
  const [on, off] = STYLES[style];
  return output.isTerminal ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

/** Created for the first number: loading it takes as long as all other modules of a command. */
let integers: Intl.NumberFormat | undefined;

/** `117,791`. */
export function formatCount(value: number): string {
  integers ??= new Intl.NumberFormat('en-GB');
  return integers.format(Math.round(value));
}

/** `1 page`, `117,791 pages`: for nouns with a plural in s. */
export function formatCounted(count: number, noun: string): string {
  return `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** `1 record`, `117,791 records`. */
export function formatRecords(count: number): string {
  return formatCounted(count, 'record');
}

/** `1.4 GiB`. */
export function formatBytes(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** `3 s`, `2 min 05 s`, `1 h 12 min`. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  const two = (value: number) => String(value).padStart(2, '0');
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${two(whole % 60)} s`;
  return `${Math.floor(whole / 3600)} h ${two(Math.floor((whole % 3600) / 60))} min`;
}

/** `0.84 ms`, `12 ms`, `1.3 s`. */
export function formatMilliseconds(milliseconds: number): string {
  if (milliseconds >= 950) return `${(milliseconds / 1000).toFixed(1)} s`;
  return milliseconds >= 10 ? `${Math.round(milliseconds)} ms` : `${milliseconds.toFixed(2)} ms`;
}

/** Formats columns as wide as needed. The first row is the heading. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, displayWidth(cell));
  }
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}

function pad(cell: string, width: number): string {
  return cell + ' '.repeat(Math.max(0, width - displayWidth(cell)));
}

const ESCAPE_SEQUENCE = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/**
 * Returns the number of characters without escape sequences. Wide characters count as one, which suffices for columns.
 */
export function displayWidth(text: string): number {
  return [...text.replace(ESCAPE_SEQUENCE, '')].length;
}

/** Truncates to `width` characters with an ellipsis. */
export function shorten(text: string, width: number): string {
  const characters = [...text];
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`;
}

/**
 * Characters that reverse the direction of text: they would change how a name, and the rest of its line, is displayed.
 */
const TURNING = '\\u202a-\\u202e\\u2066-\\u2069';
const STEERING = new RegExp(`(?:\\p{Cc}|[${TURNING}])+`, 'gu');
const STEERING_BUT_LINES = new RegExp(`(?:(?![\\n\\t])\\p{Cc}|[${TURNING}])+`, 'gu');
/** Characters that JSON does not escape; a terminal may take the first for a control sequence. */
const STEERING_IN_JSON = new RegExp(`[\\u007f-\\u009f${TURNING}]`, 'gu');

/** Replaces control characters, since record contents must not control the terminal. */
export function printable(text: string): string {
  return text.replace(STEERING, ' ');
}

/** Like `printable`, but keeps line ends and tabs. */
export function printableLines(text: string): string {
  return text.replace(STEERING_BUT_LINES, ' ');
}

/** Returns JSON with control characters escaped, which parses to the same value. */
export function jsonText(value: unknown, indent?: number): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(STEERING_IN_JSON, escaped);
}

/** Returns the name of a source, as the beginning of a sentence. */
export function sourceName(file: string): string {
  return file === '-' ? 'Standard input' : printable(file);
}
