/**
 * Codec of vectors of pictures, little-endian.
 *
 *   of a picture             u8 1 | 3 × u8 0 | f32 for each number
 *   of the frames of a video u8 2 | 3 × u8 0 | u32 frames | f32 second of each | f32 for each number of each
 */
import type { SeenFrame } from './file-reader.js';

const FORMAT = 1;
const FORMAT_OF_FRAMES = 2;
const HEAD_BYTES = 4;
const FRAMES_HEAD_BYTES = 8;

export function encodeVector(vector: Float32Array): Buffer {
  return withHead(FORMAT, HEAD_BYTES, [vector]);
}

/** Throws if the bytes are not an encoded vector. */
export function decodeVector(bytes: Uint8Array): Float32Array {
  const vector = bytes[0] === FORMAT ? floatsFrom(bytes, HEAD_BYTES) : undefined;
  if (vector === undefined || vector.length === 0) throw new Error('the vector of a picture is not as it was written');
  return vector;
}

/** All vectors must have the same length. */
export function encodeFrames(frames: readonly SeenFrame[]): Buffer {
  const seconds = Float32Array.from(frames, (frame) => frame.seconds);
  const bytes = withHead(FORMAT_OF_FRAMES, FRAMES_HEAD_BYTES, [seconds, ...frames.map(({ vector }) => vector)]);
  bytes.writeUInt32LE(frames.length, HEAD_BYTES);
  return bytes;
}

/** Throws if the bytes are not encoded frames. */
export function decodeFrames(bytes: Uint8Array): SeenFrame[] {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isWhole = bytes.length >= FRAMES_HEAD_BYTES && bytes[0] === FORMAT_OF_FRAMES;
  const count = isWhole ? head.readUInt32LE(HEAD_BYTES) : 0;
  const floats = isWhole ? floatsFrom(bytes, FRAMES_HEAD_BYTES) : undefined;
  const dimensions = count === 0 ? 0 : ((floats?.length ?? 0) - count) / count;
  const isDamaged = count === 0 ? floats?.length !== 0 : !(Number.isInteger(dimensions) && dimensions > 0);
  if (floats === undefined || isDamaged) throw new Error('the frames of a video are not as they were written');
  return Array.from({ length: count }, (_, place) => {
    const begin = count + place * dimensions;
    return { seconds: floats[place] as number, vector: floats.subarray(begin, begin + dimensions) };
  });
}

/**
 * Returns the second of a frame by its place, from 0; undefined if there are fewer frames. Throws if the bytes are not
 * encoded frames.
 */
export function secondOfFrame(bytes: Uint8Array, place: number): number | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const isFrames = bytes.length >= FRAMES_HEAD_BYTES && bytes[0] === FORMAT_OF_FRAMES;
  const count = isFrames ? head.readUInt32LE(HEAD_BYTES) : 0;
  const at = FRAMES_HEAD_BYTES + place * Float32Array.BYTES_PER_ELEMENT;
  if (!isFrames || FRAMES_HEAD_BYTES + count * Float32Array.BYTES_PER_ELEMENT > bytes.length)
    throw new Error('the frames of a video are not as they were written');
  return place < count ? head.readFloatLE(at) : undefined;
}

function withHead(format: number, headBytes: number, vectors: readonly Float32Array[]): Buffer {
  const bytes = Buffer.alloc(headBytes + vectors.reduce((sum, { byteLength }) => sum + byteLength, 0));
  bytes[0] = format;
  let at = headBytes;
  for (const { buffer, byteOffset, byteLength } of vectors) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at);
    at += byteLength;
  }
  return bytes;
}

/** Undefined if the last number is incomplete. */
function floatsFrom(bytes: Uint8Array, begin: number): Float32Array | undefined {
  const numbers = (bytes.length - begin) / Float32Array.BYTES_PER_ELEMENT;
  if (!(numbers >= 0) || !Number.isInteger(numbers)) return undefined;
  // Stored bytes may lie at any offset, but floats must be aligned to four bytes.
  const floats = new Float32Array(numbers);
  new Uint8Array(floats.buffer).set(bytes.subarray(begin, bytes.length));
  return floats;
}
