/**
 * Errors of malformed lines of an import, which say where in the line the fault is. A file may consist of such lines,
 * and creating an error costs twenty times as much as reading a short line: so lines beyond the number that is reported
 * share one error.
 */
import { lineAndColumn, ServiceError, type JsonFault } from '../../platform/index.js';

/** Errors of the lines of one batch. */
export class LineFaults {
  #told = 0;

  constructor(
    /** Shared error without a position. */
    private readonly plain: ServiceError,
    /** Number of errors that the answer still has room for. */
    private readonly toldMax: number,
  ) {}

  /** Returns the error of a line. `detail` returns undefined if there is no more to say than in the shared error. */
  at(detail: () => string | undefined): ServiceError {
    if (this.#told >= this.toldMax) return this.plain;
    this.#told += 1;
    const told = detail();
    return told === undefined ? this.plain : new ServiceError(this.plain.problem, told);
  }
}

/** Undefined if the fault is not a syntax error, but a restriction of this service. */
export function toldSyntaxFault(text: string, fault: JsonFault | undefined): string | undefined {
  if (fault?.isSyntax !== true) return undefined;
  // If the text is cut off, the line end behind it is not part of it.
  const { line, column } = lineAndColumn(text, Math.min(fault.position, text.trimEnd().length));
  return `The record is not valid JSON: ${fault.detail}, at ${line === 1 ? '' : `line ${line}, `}column ${column} of it.`;
}

export interface DamagedCell {
  /** Position of the cell in the row, from 0. Computed on demand. */
  readonly cell: () => number;
  readonly fault: 'quote-within' | 'text-behind-quote' | 'open-quote';
}

const CELL_FAULTS: Readonly<Record<DamagedCell['fault'], string>> = {
  'quote-within':
    'a quote stands within it: a value with quotes begins and ends with one, and has those within doubled',
  'text-behind-quote': 'something stands behind its closing quote: a quote within a value is doubled',
  'open-quote': 'its quote is not closed',
};

export function toldDamagedCell(cell: number, fault: DamagedCell['fault'], shownName: string | undefined): string {
  const where = shownName === undefined ? `in value ${cell + 1}` : `in the column '${shownName}'`;
  return `The line is not valid CSV: ${where} ${CELL_FAULTS[fault]}.`;
}
