import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../test/support/random.js';
import { principalSubspace } from './principal-subspace.js';
import { TermMatrixBuilder, type MatrixLimits } from './term-matrix.js';
import { DamagedModelError, learnModel, TextModel, versionOf } from './text-model.js';

const LIMITS: MatrixLimits = { termsMax: 1000, countedTermsMax: 10_000, entriesMax: 100_000 };
const TOPICS = 20;
const WORDS_OF_TOPIC = 9;

const wordOf = (topic: number, word: number) => `t${topic}w${word}`;

/** Returns records of one topic each, with a few of its words. */
function recordsOfTopics(count: number, seed = 5): string[][] {
  const random = new SeededRandom(seed);
  return Array.from({ length: count }, (_, record) =>
    Array.from({ length: 4 }, () => wordOf(record % TOPICS, random.below(WORDS_OF_TOPIC))),
  );
}

function matrixOf(records: readonly (readonly string[])[], limits = LIMITS) {
  const builder = new TermMatrixBuilder(limits);
  for (const terms of records) builder.add(terms);
  return builder.finish();
}

function learned(records: readonly (readonly string[])[]): TextModel {
  const model = learnModel(matrixOf(records), 'en');
  if (model === undefined) throw new Error('nothing was learned');
  return new TextModel(model.bytes);
}

function cosine(left: Float32Array | undefined, right: Float32Array | undefined): number {
  return Array.from(left ?? []).reduce((sum, value, at) => sum + value * (right?.[at] ?? 0), 0);
}

describe('TermMatrixBuilder', () => {
  it('makes rows of length 1 from words that are in at least two records, but not in too many', () => {
    const everywhere = recordsOfTopics(400).map((terms, record) => [...terms, 'everywhere', `only${record}`]);
    const { terms, begins, columns, values, rowCount, averageLength } = matrixOf(everywhere);
    expect(terms).toEqual([...terms].sort());
    expect(terms).toHaveLength(TOPICS * WORDS_OF_TOPIC);
    expect([rowCount, averageLength]).toEqual([400, 6]);
    for (let row = 0; row < rowCount; ++row) {
      const entries = values.subarray(begins[row], begins[row + 1]);
      expect(Math.hypot(...entries)).toBeCloseTo(1, 5);
      const words = Array.from(columns.subarray(begins[row], begins[row + 1]), (column) => terms[column]);
      expect(new Set(words)).toEqual(new Set(everywhere[row]?.filter((term) => /^t\d/.test(term))));
    }
  });

  it('is limited in columns, counted words and entries', () => {
    const records = recordsOfTopics(400);
    expect(matrixOf(records, { ...LIMITS, termsMax: 7 }).terms).toHaveLength(7);
    expect(matrixOf(records, { ...LIMITS, countedTermsMax: 30 }).terms.length).toBeLessThanOrEqual(30);
    const builder = new TermMatrixBuilder({ ...LIMITS, entriesMax: 100 });
    for (const terms of records) builder.add(terms);
    expect(builder.isFull).toBe(true);
    const { columns, rowCount } = builder.finish();
    expect(columns.length).toBeLessThan(100 + 4);
    expect(rowCount).toBeLessThan(100);
  });
});

describe('principalSubspace', () => {
  it('has orthonormal directions, and zeros if the matrix has no more', () => {
    const { terms, ...matrix } = matrixOf(recordsOfTopics(400));
    for (const dimensions of [8, terms.length + 20]) {
      const basis = principalSubspace(matrix, terms.length, dimensions);
      const column = (at: number) => Float32Array.from(terms, (_, row) => basis[row * dimensions + at] as number);
      for (let left = 0; left < dimensions; left += 3) {
        for (let right = 0; right <= left; right += 2) {
          const product = cosine(column(left), column(right));
          const isZero = left === right && left >= terms.length - 1 && Math.abs(product) < 1e-6;
          if (!isZero) expect(product).toBeCloseTo(left === right ? 1 : 0, 4);
        }
      }
    }
  });

  it('keeps as much of the rows as the known topics', () => {
    const { terms, ...matrix } = matrixOf(recordsOfTopics(600));
    const kept = (basis: Float32Array, dimensions: number) => {
      let sum = 0;
      for (let row = 0; row + 1 < matrix.begins.length; ++row) {
        for (let at = 0; at < dimensions; ++at) {
          let product = 0;
          for (let entry = matrix.begins[row] as number; entry < (matrix.begins[row + 1] as number); ++entry) {
            product +=
              (matrix.values[entry] as number) * (basis[(matrix.columns[entry] as number) * dimensions + at] as number);
          }
          sum += product ** 2;
        }
      }
      return sum;
    };
    const ours = kept(principalSubspace(matrix, terms.length, TOPICS), TOPICS);
    // Among so few directions, the topics themselves are as good as any.
    const topics = new Float32Array(terms.length * TOPICS);
    for (const [row, term] of terms.entries()) {
      topics[row * TOPICS + Number(/^t(\d+)w/.exec(term)?.[1])] = 1 / Math.sqrt(WORDS_OF_TOPIC);
    }
    expect(ours).toBeGreaterThan(kept(topics, TOPICS) * 0.99);
  });
});

describe('a model that was learned from records', () => {
  it('gives texts of one topic similar vectors, even without a common word', () => {
    const model = learned(recordsOfTopics(200));
    const one = model.vectorOf([wordOf(3, 0), wordOf(3, 1)]);
    expect(cosine(one, model.vectorOf([wordOf(3, 4), wordOf(3, 5)]))).toBeGreaterThan(0.5);
    expect(cosine(one, model.vectorOf([wordOf(8, 0), wordOf(8, 1)]))).toBeLessThan(0.2);
    expect(Math.hypot(...(one ?? []))).toBeCloseTo(1, 5);
    expect(model.vectorOf(['unheard', 'of'])).toBeUndefined();
    expect(model.vectorOf([])).toBeUndefined();
    expect([model.dimensions, model.learnedFrom, model.language]).toEqual([25, 200, 'en']);
  });

  it('is the same, with the same version, for the same records', () => {
    const [one, two, other] = [5, 5, 6].map((seed) => learnModel(matrixOf(recordsOfTopics(300, seed)), 'en'));
    expect(one?.version).toBe(two?.version);
    expect(one?.version).toBe(versionOf(one?.bytes ?? new Uint8Array()));
    expect(other?.version).not.toBe(one?.version);
  });

  it('has one dimension for eight records, from 16 to 128', () => {
    const of = (count: number) => learned(recordsOfTopics(count)).dimensions;
    expect([64, 400, 2000].map(of)).toEqual([16, 50, 128]);
  });

  it('does not exist if the records share no word', () => {
    expect(learnModel(matrixOf([['one'], ['two']]), 'en')).toBeUndefined();
    expect(learnModel(matrixOf([]), 'en')).toBeUndefined();
  });

  it('keeps words of every script, and throws DamagedModelError for changed bytes', () => {
    const text = fc.array(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((term) => !/\n/.test(term)),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(fc.array(text, { minLength: 2, maxLength: 8 }), fc.nat(), fc.nat(255), (records, at, byte) => {
        const made = learnModel(matrixOf([...records, ...records]), 'en');
        if (made === undefined) return;
        const model = new TextModel(made.bytes);
        for (const terms of records) {
          if (terms.length > 0) expect(model.vectorOf(terms)?.length ?? 16).toBe(16);
        }
        const damaged = Uint8Array.from(made.bytes);
        damaged[at % damaged.length] = byte;
        for (const bytes of [damaged, made.bytes.subarray(0, at % made.bytes.length)]) {
          try {
            new TextModel(bytes).vectorOf(records[0] ?? []);
          } catch (error) {
            expect(error).toBeInstanceOf(DamagedModelError);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
