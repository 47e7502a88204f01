/**
 * What is said of lines of an import that are no records: where in the line it is. There may be nothing but such lines, and an error takes twenty
 * times as long as to read a short one: the same one is made once, and those of which nobody would be told any more say no place.
 */
import { lineAndColumn, ServiceError, type ErrorCode, type JsonFault } from '../../platform/index.js';

/** Of a batch; an answer has as many by default. */
const PLACES_TOLD_MAX = 1000;

export class LineFaults {
  #made = 0;
  #last: ServiceError | undefined;

  /** `plain`: where no place is told, made once for all. */
  constructor(
    readonly code: ErrorCode,
    readonly plain: ServiceError,
  ) {}

  at(detail: () => string | undefined): ServiceError {
    if (this.#made >= PLACES_TOLD_MAX) return this.plain;
    const told = detail();
    if (told === undefined) return this.plain;
    if (this.#last?.detail === told) return this.#last;
    this.#made += 1;
    this.#last = new ServiceError(this.code, told);
    return this.#last;
  }
}

/** Undefined for what only this service finds fault with. */
export function toldSyntaxFault(text: string, fault: JsonFault | undefined): string | undefined {
  if (fault?.isSyntax !== true) return undefined;
  // Where the text ends too soon, the line end behind it is no part of it.
  const { line, column } = lineAndColumn(text, Math.min(fault.position, text.trimEnd().length));
  return `The record is not valid JSON: ${fault.detail}, at ${line === 1 ? '' : `line ${line}, `}column ${column} of it.`;
}

/** By its place in the row, from 0. */
export interface DamagedCell {
  readonly cell: number;
  readonly fault: 'quote-within' | 'text-behind-quote' | 'open-quote';
}

const CELL_FAULTS: Readonly<Record<DamagedCell['fault'], string>> = {
  'quote-within':
    'a quote stands within it: a value with quotes begins and ends with one, and has those within doubled',
  'text-behind-quote': 'something stands behind its closing quote: a quote within a value is doubled',
  'open-quote': 'its quote is not closed',
};

export function toldDamagedCell({ cell, fault }: DamagedCell, shownName: string | undefined): string {
  const where = shownName === undefined ? `in value ${cell + 1}` : `in the column '${shownName}'`;
  return `The line is not valid CSV: ${where} ${CELL_FAULTS[fault]}.`;
}
