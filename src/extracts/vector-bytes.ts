/** The vector of a picture as bytes: u8 format (1) | 3 × u8 0 | f32 for each number, little-endian. */
const FORMAT = 1;
const HEAD_BYTES = 4;

export function encodeVector(vector: Float32Array): Buffer {
  const bytes = Buffer.alloc(HEAD_BYTES + vector.byteLength);
  bytes[0] = FORMAT;
  bytes.set(new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength), HEAD_BYTES);
  return bytes;
}

/** Throws where the bytes are not those of a vector. */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const numbers = (bytes.length - HEAD_BYTES) / Float32Array.BYTES_PER_ELEMENT;
  if (bytes[0] !== FORMAT || numbers < 1 || !Number.isInteger(numbers))
    throw new Error('the vector of a picture is not as it was written');
  // What was read lies anywhere in a page; floats need a place that is a multiple of four.
  const vector = new Float32Array(numbers);
  new Uint8Array(vector.buffer).set(bytes.subarray(HEAD_BYTES, bytes.length));
  return vector;
}
