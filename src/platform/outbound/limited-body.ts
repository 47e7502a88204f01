/** The body of an answer, decompressed, with a bound on what comes from the network and on what becomes of it. */
import { pipeline, Transform, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { OutboundFailedError, type OutboundFailure } from './outbound-error.js';

/** What is asked for where decompression is wanted. */
export const ACCEPTED_ENCODINGS = 'gzip, br';
/** By names that a stranger says. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map<string, () => Transform>([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);
/** More of them multiply what a small answer can become. */
const ENCODINGS_MAX = 2;

export interface BodyLimits {
  /** As it comes from the network. */
  readonly wireBytesMax: number;
  /** As it is given to who asked. */
  readonly bytesMax: number;
}

/** Errors of the source come through. Throws `bad-answer` for an encoding that is not known. */
export function limitedBody(source: Readable, contentEncoding: string, limits: BodyLimits): Readable {
  const decoders = decodersOf(contentEncoding);
  const onWire = byteLimit(limits.wireBytesMax, 'too-large');
  const stages = [
    onWire,
    ...decoders,
    ...(decoders.length > 0 ? [byteLimit(limits.bytesMax, 'too-large-decompressed')] : []),
  ];
  // Who reads the last stage is told there; this only keeps errors from being nobody's.
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
  // The last that was applied is the first to be undone.
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
