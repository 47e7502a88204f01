/** Validates answers of models before they are used: a remote server may answer anything. */
import { ModelError } from './model-error.js';

const NAMED_CHARACTERS_MAX = 200;
/** The smallest normal number. Smaller sums of squares have lost digits, so that the length is wrong. */
const SQUARES_MIN = 2 ** -1022;

/** Returns the vectors normalised to length 1. Throws a ModelError that says what is wrong with one of them. */
export function checkedVectors(
  answered: readonly unknown[],
  expected: { count: number; dimensions: number },
): Float32Array[] {
  if (answered.length !== expected.count) {
    throw wrong(`The model answered ${answered.length} vectors to ${expected.count} texts.`);
  }
  return answered.map((vector) => checkedVector(vector, expected.dimensions));
}

function checkedVector(given: unknown, dimensions: number): Float32Array {
  if (!Array.isArray(given) && !(given instanceof Float32Array)) {
    throw wrong('The model answered something that is not a list of numbers where a vector was expected.');
  }
  if (given.length !== dimensions) {
    throw wrong(
      `The model answered a vector of ${given.length} dimensions; it had ${dimensions} when it was added. If it was replaced by another model, say so with gannet model update.`,
    );
  }
  const squares = given instanceof Float32Array ? squaresOf(given) : Number.NaN;
  // Squares of single-precision numbers cannot overflow in double precision, so a finite sum means that all numbers are
  // finite.
  return Number.isFinite(squares)
    ? ofLengthOne(given as Float32Array, squares)
    : checkedNumbers(given as ArrayLike<unknown>);
}

function checkedNumbers(given: ArrayLike<unknown>): Float32Array {
  let squares = 0;
  for (let index = 0; index < given.length; index++) {
    const value = given[index];
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw wrong(`The model answered a vector with ${described(value)} where a number was expected.`);
    }
    squares += value * value;
  }
  return ofLengthOne(given as ArrayLike<number>, squares);
}

/** Returns the sum of squares. A search waits for it, so numbers are not checked one by one. */
function squaresOf(given: Float32Array): number {
  let squares = 0;
  for (let index = 0; index < given.length; index++) {
    const value = given[index] as number;
    squares += value * value;
  }
  return squares;
}

function ofLengthOne(given: ArrayLike<number>, squares: number): Float32Array {
  // In double precision, where numbers that single precision would round to zero or infinity still have a length.
  const length = Math.sqrt(squares);
  if (!(squares >= SQUARES_MIN) || !Number.isFinite(length))
    throw wrong('The model answered a vector without a direction.');
  const vector = new Float32Array(given.length);
  for (let index = 0; index < given.length; index++) vector[index] = (given[index] as number) / length;
  return vector;
}

/** Returns one finite number per document, in order. Throws a ModelError. */
export function checkedRelevances(
  answered: readonly { readonly index: unknown; readonly relevance: unknown }[],
  count: number,
): number[] {
  const relevances = new Array<number | undefined>(count).fill(undefined);
  for (const { index, relevance } of answered) {
    if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= count) {
      throw wrong(`The model answered about a document ${described(index)}, and there are ${count}.`);
    }
    if (typeof relevance !== 'number' || !Number.isFinite(relevance)) {
      throw wrong(`The model answered ${described(relevance)} where a relevance was expected.`);
    }
    if (relevances[index as number] !== undefined) throw wrong('The model answered about one document twice.');
    relevances[index as number] = relevance;
  }
  if (relevances.includes(undefined)) {
    throw wrong(`The model answered about ${answered.length} documents, and was asked about ${count}.`);
  }
  return relevances as number[];
}

function wrong(detail: string): ModelError {
  return new ModelError(detail, { retry: 'later', reason: 'bad-answer' });
}

/**
 * Describes a value in a few words. Contents of lists and objects are left out, since they may be as long and as deep
 * as an answer.
 */
export function described(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  return JSON.stringify(typeof value === 'string' ? value.slice(0, NAMED_CHARACTERS_MAX) : value);
}

/** Returns a member of an answer. Undefined if the answer is not an object. */
export function memberOf(answer: unknown, name: string): unknown {
  const isObject = typeof answer === 'object' && answer !== null;
  return isObject ? (answer as Readonly<Record<string, unknown>>)[name] : undefined;
}
