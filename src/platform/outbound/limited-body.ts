/** The decompressed body of an answer, limited in its bytes before and after decompression. */
import { pipeline, Transform, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OutboundFailedError, type OutboundFailure } from './outbound-error.js';

/** Value of `Accept-Encoding` if answers are to be decompressed. */
export const ACCEPTED_ENCODINGS = 'gzip, br';
/** A map, not an object, since the names come from a server. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
/** Limit of nested encodings: each multiplies what a small answer can become. */
const ENCODINGS_MAX = 2;

export interface BodyLimits {
  /** Bytes as received from the network. */
  readonly wireBytesMax: number;
  /** Bytes after decompression. */
  readonly bytesMax: number;
}

/**
 * Returns a stream of the decompressed body. Passes on errors of the source. Throws `bad-answer` for an unknown
 * encoding.
 */
export function limitedBody(source: Readable, contentEncoding: string, limits: BodyLimits): Readable {
  const decoders = decodersOf(contentEncoding);
  const onWire = byteLimit(limits.wireBytesMax, 'too-large');
  const stages = [
    onWire,
    ...decoders,
    ...(decoders.length > 0 ? [byteLimit(limits.bytesMax, 'too-large-decompressed')] : []),
  ];
  // The reader of the last stage gets errors there; this callback only prevents unhandled ones.
  pipeline([source, ...stages], () => undefined);
  return stages.at(-1) ?? onWire;
}

function decodersOf(contentEncoding: string): Transform[] {
  const names = contentEncoding
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== 'identity');
  const known = names.map((name) => DECODERS.get(name));
  if (names.length > ENCODINGS_MAX || known.includes(undefined)) {
    throw new OutboundFailedError('bad-answer', `The answer is compressed as '${contentEncoding.slice(0, 100)}'.`);
  }
  // The encoding applied last is decoded first.
  return known.reverse().flatMap((create) => (create === undefined ? [] : [create()]));
}

function byteLimit(bytesMax: number, reason: OutboundFailure): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes <= bytesMax) done(null, chunk);
      else done(new OutboundFailedError(reason, `The answer has more than ${bytesMax} bytes.`));
    },
  });
}
