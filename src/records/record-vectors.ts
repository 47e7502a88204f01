/** Vectors that come with a record: the members `vector` and `vectors` beside `fields`. */
import { ServiceError } from '../platform/index.js';

/** Maximum dimensions of a vector. */
export const VECTOR_DIMENSIONS_MAX = 8192;
/** Maximum number of vectors that a record may have. */
const GIVEN_VECTORS_MAX = 1000;

/** 32-bit floats. Null: the record's vectors are removed. */
export type GivenVectors = readonly Float32Array[] | null;

/** Undefined if the record does not mention vectors. Throws `invalid-record`, which says what was expected. */
export function readGivenVectors(record: Readonly<Record<string, unknown>>): GivenVectors | undefined {
  const { vector, vectors } = record;
  if (vector !== undefined && vectors !== undefined) {
    throw invalidVector('vectors', 'A record has either vector, for one, or vectors, for several.');
  }
  if (vector === null || vectors === null) return null;
  if (vector !== undefined) return [vectorOf(vector, 'vector')];
  if (vectors === undefined) return undefined;
  if (!Array.isArray(vectors))
    throw invalidVector('vectors', 'vectors is an array of vectors, each an array of numbers.');
  if (vectors.length > GIVEN_VECTORS_MAX) {
    throw invalidVector('vectors', `A record has at most ${GIVEN_VECTORS_MAX} vectors, not ${vectors.length}.`);
  }
  const read = vectors.map((each: unknown, position) => vectorOf(each, `vectors/${position}`));
  const [first] = read;
  const odd = read.findIndex(({ length }) => length !== first?.length);
  if (odd >= 0) {
    const detail = `All vectors of a record must have the same length: this one has ${read[odd]?.length} numbers, the first one ${first?.length}.`;
    throw invalidVector(`vectors/${odd}`, detail);
  }
  return read.length === 0 ? null : read;
}

function vectorOf(value: unknown, member: string): Float32Array {
  if (!Array.isArray(value)) throw invalidVector(member, 'A vector is an array of numbers.');
  if (value.length === 0 || value.length > VECTOR_DIMENSIONS_MAX) {
    throw invalidVector(member, `A vector has 1 to ${VECTOR_DIMENSIONS_MAX} numbers, not ${value.length}.`);
  }
  const vector = new Float32Array(value.length);
  let hasLength = false;
  for (const [position, number] of (value as unknown[]).entries()) {
    if (typeof number !== 'number' || !Number.isFinite(Math.fround(number))) {
      const detail = 'A vector must consist of finite numbers that fit into 32-bit floats: not NaN, null or infinite.';
      throw invalidVector(`${member}/${position}`, detail);
    }
    vector[position] = number;
    hasLength ||= vector[position] !== 0;
  }
  if (!hasLength) throw invalidVector(member, 'A vector has a number that is not zero: zeros point nowhere.');
  return vector;
}

/** `member`: position in the record. */
export function invalidVector(member: string, detail: string): ServiceError {
  return new ServiceError('invalid-record', detail, { errors: [{ pointer: `/${member}`, detail }] });
}
