/**
 * Codec of a record's vectors.
 *
 *   offset  bytes
 *        0  u8   format (1)
 *        1  u8   0
 *        2  u16  number of vectors, at least 1
 *        4  u32  dimensions
 *        8  16   what was embedded: `textHash`; zeros for vectors that came with the record
 *       24  f32  vectors, one after the other, as they were given
 *
 * Little-endian. Pure functions over bytes that the caller owns.
 */
const FORMAT = 1;
const HEADER_BYTES = 24;
const HASH_OFFSET = 8;
export const HASH_BYTES = 16;
/** Maximum number of vectors of one record: passages of its text, or vectors that came with it. */
export const VECTORS_PER_RECORD_MAX = 1000;

export interface StoredVectors {
  /** HASH_BYTES bytes. */
  readonly hash: Uint8Array;
  readonly dimensions: number;
  readonly count: number;
  /** `count` × `dimensions` numbers. */
  readonly values: Float32Array;
}

export class DamagedVectorsError extends Error {
  override readonly name = 'DamagedVectorsError';
}

/** All vectors must have the same length. */
export function encodeVectors(vectors: readonly Float32Array[], hash: Uint8Array = new Uint8Array(HASH_BYTES)): Buffer {
  const dimensions = vectors[0]?.length ?? 0;
  const bytes = Buffer.alloc(HEADER_BYTES + vectors.length * dimensions * Float32Array.BYTES_PER_ELEMENT);
  bytes[0] = FORMAT;
  bytes.writeUInt16LE(vectors.length, 2);
  bytes.writeUInt32LE(dimensions, 4);
  bytes.set(hash, HASH_OFFSET);
  let offset = HEADER_BYTES;
  for (const vector of vectors) {
    bytes.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), offset);
    offset += vector.byteLength;
  }
  return bytes;
}

/** Returns a view of the hash of stored vectors. Throws `DamagedVectorsError`. */
export function hashOfVectors(bytes: Uint8Array): Uint8Array {
  checkHeader(bytes);
  return bytes.subarray(HASH_OFFSET, HASH_OFFSET + HASH_BYTES);
}

/** Throws `DamagedVectorsError` if the bytes were not made by `encodeVectors`. */
export function decodeVectors(bytes: Uint8Array): StoredVectors {
  const { count, dimensions } = checkHeader(bytes);
  // Stored bytes may lie at any offset, but floats must be aligned to four bytes.
  const values = new Float32Array(count * dimensions);
  new Uint8Array(values.buffer).set(bytes.subarray(HEADER_BYTES, HEADER_BYTES + values.byteLength));
  return { hash: new Uint8Array(hashOfVectors(bytes)), dimensions, count, values };
}

/** Returns a copy that stays valid after the next read. */
export function copyOfVectors(bytes: Uint8Array): Buffer {
  // The buffer that lmdb-js reads into is longer than its `length` property.
  return Buffer.from(bytes.subarray(0, bytes.length));
}

function checkHeader(bytes: Uint8Array): { readonly count: number; readonly dimensions: number } {
  if (bytes.length < HEADER_BYTES || bytes[0] !== FORMAT) throw new DamagedVectorsError('unknown format of vectors');
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, HEADER_BYTES);
  const count = header.readUInt16LE(2);
  const dimensions = header.readUInt32LE(4);
  const valueBytes = count * dimensions * Float32Array.BYTES_PER_ELEMENT;
  if (count === 0 || dimensions === 0 || bytes.length !== HEADER_BYTES + valueBytes) {
    throw new DamagedVectorsError('vectors are not as long as their header says');
  }
  return { count, dimensions };
}
