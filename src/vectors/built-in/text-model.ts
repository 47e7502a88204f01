/**
 * The built-in model of a list: a direction for each of its words, learned from its own records by latent semantic
 * analysis (Deerwester et al. 1990). Its bytes:
 *
 *   offset  bytes
 *        0  u8   format (1)
 *        1  u8   bytes of the language's tag
 *        2  u16  dimensions
 *        4  u32  number of terms
 *        8  u32  records that it was learned from
 *       12  f32  average number of words per record
 *       16  f32  weight of each term, times its step
 *        …  i8   direction of each term, in steps
 *        …  the language's tag, then the terms, each after a line feed, UTF-8
 *
 * Little-endian. Equal records give equal bytes. Belongs to one thread.
 */
import { createHash } from 'node:crypto';
import { principalSubspace } from './principal-subspace.js';
import { frequenciesOf, saturation, type TermMatrix } from './term-matrix.js';

/**
 * Number of dimensions. Smaller for a small list, in which more would separate every record from every other, and bring
 * none closer.
 */
const DIMENSIONS = { least: 16, most: 128, recordsEach: 8 };
const FORMAT = 1;
const HEADER_BYTES = 16;
const STEPS = 127;
const VERSION_CHARACTERS = 24;

export class DamagedModelError extends Error {
  override readonly name = 'DamagedModelError';
}

export interface LearnedModel {
  /** Hash of the bytes; differs if the vectors differ. */
  readonly version: string;
  readonly dimensions: number;
  readonly bytes: Uint8Array;
}

/** Undefined if the records have no word in common. Takes seconds for a large matrix. */
export function learnModel(matrix: TermMatrix, language: string): LearnedModel | undefined {
  const { terms, weights } = matrix;
  if (terms.length === 0) return undefined;
  const { least, most, recordsEach } = DIMENSIONS;
  const dimensions = Math.min(most, Math.max(least, Math.floor(matrix.rowCount / recordsEach)));
  const basis = principalSubspace(matrix, terms.length, dimensions);
  const tag = Buffer.from(language, 'utf8');
  const text = Buffer.concat([tag, Buffer.from(terms.map((term) => `\n${term}`).join(''), 'utf8')]);
  const matrixAt = HEADER_BYTES + terms.length * Float32Array.BYTES_PER_ELEMENT;
  const bytes = Buffer.alloc(matrixAt + basis.length + text.length);
  bytes[0] = FORMAT;
  bytes[1] = tag.length;
  bytes.writeUInt16LE(dimensions, 2);
  bytes.writeUInt32LE(terms.length, 4);
  bytes.writeUInt32LE(matrix.rowCount, 8);
  bytes.writeFloatLE(matrix.averageLength, 12);
  for (let term = 0; term < terms.length; ++term) {
    const direction = basis.subarray(term * dimensions, (term + 1) * dimensions);
    const largest = direction.reduce((found, value) => Math.max(found, Math.abs(value)), 0);
    const step = largest / STEPS;
    bytes.writeFloatLE((weights[term] as number) * step, HEADER_BYTES + term * Float32Array.BYTES_PER_ELEMENT);
    const at = matrixAt + term * dimensions;
    for (const [index, value] of direction.entries())
      bytes.writeInt8(step === 0 ? 0 : Math.round(value / step), at + index);
  }
  bytes.set(text, matrixAt + basis.length);
  return { version: versionOf(bytes), dimensions, bytes };
}

export function versionOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, VERSION_CHARACTERS);
}

export class TextModel {
  readonly dimensions: number;
  /** Language of the stemmer: that of the list when the model was learned. */
  readonly language: string;
  readonly learnedFrom: number;
  private readonly averageLength: number;
  private readonly rowOf: ReadonlyMap<string, number>;
  private readonly weights: Float32Array;
  private readonly directions: Int8Array;

  /** Throws `DamagedModelError` if the bytes were not made by `learnModel`. The bytes are copied. */
  constructor(bytes: Uint8Array) {
    const header = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    if (bytes.length < HEADER_BYTES || bytes[0] !== FORMAT) throw new DamagedModelError('unknown format of a model');
    const [languageBytes] = bytes.subarray(1, 2);
    this.dimensions = header.readUInt16LE(2);
    const termCount = header.readUInt32LE(4);
    this.learnedFrom = header.readUInt32LE(8);
    this.averageLength = header.readFloatLE(12);
    const matrixAt = HEADER_BYTES + termCount * Float32Array.BYTES_PER_ELEMENT;
    const textAt = matrixAt + termCount * this.dimensions;
    if (termCount === 0 || this.dimensions === 0 || textAt > bytes.length) {
      throw new DamagedModelError('a model is shorter than its header says');
    }
    const copy = new Uint8Array(bytes.subarray(HEADER_BYTES, textAt));
    this.weights = new Float32Array(copy.buffer, 0, termCount);
    this.directions = new Int8Array(copy.buffer, matrixAt - HEADER_BYTES);
    const [language = '', ...terms] = header.subarray(textAt).toString('utf8').split('\n');
    this.language = language;
    this.rowOf = new Map(terms.map((term, row) => [term, row]));
    if (this.rowOf.size !== termCount || Buffer.byteLength(language) !== languageBytes) {
      throw new DamagedModelError('a model has other terms than its header says');
    }
  }

  /** Returns a vector of length 1; undefined if the model knows none of the terms. */
  vectorOf(terms: readonly string[]): Float32Array | undefined {
    const sum = new Float64Array(this.dimensions);
    for (const [term, frequency] of frequenciesOf(terms)) {
      const row = this.rowOf.get(term);
      if (row === undefined) continue;
      const weight = (this.weights[row] as number) * saturation(frequency, terms.length, this.averageLength);
      const from = row * this.dimensions;
      for (let at = 0; at < sum.length; ++at) {
        sum[at] = (sum[at] as number) + weight * (this.directions[from + at] as number);
      }
    }
    let square = 0;
    for (const value of sum) square += value * value;
    if (!(square > 0)) return undefined;
    const length = Math.sqrt(square);
    return Float32Array.from(sum, (value) => value / length);
  }
}
