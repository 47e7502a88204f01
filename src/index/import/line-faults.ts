/**
 * What is said of lines of an import that are no records: where in the line it is. There may be nothing but such lines, and an error takes twenty
 * times as long as to read a short one: those of which nobody would be told any more have one error in common.
 */
import { lineAndColumn, ServiceError, type JsonFault } from '../../platform/index.js';

/** Of a batch. */
export class LineFaults {
  #told = 0;

  constructor(
    /** Where no place is told, whatever is wrong; made once for all. */
    private readonly plain: ServiceError,
    /** How many more errors the answer has room for. */
    private readonly toldMax: number,
  ) {}

  /** `detail`: undefined where there is none to tell. */
  at(detail: () => string | undefined): ServiceError {
    if (this.#told >= this.toldMax) return this.plain;
    this.#told += 1;
    const told = detail();
    return told === undefined ? this.plain : new ServiceError(this.plain.problem, told);
  }
}

/** Undefined for what only this service finds fault with. */
export function toldSyntaxFault(text: string, fault: JsonFault | undefined): string | undefined {
  if (fault?.isSyntax !== true) return undefined;
  // Where the text ends too soon, the line end behind it is no part of it.
  const { line, column } = lineAndColumn(text, Math.min(fault.position, text.trimEnd().length));
  return `The record is not valid JSON: ${fault.detail}, at ${line === 1 ? '' : `line ${line}, `}column ${column} of it.`;
}

export interface DamagedCell {
  /** Its place in the row, from 0, looked for when it is asked for. */
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
