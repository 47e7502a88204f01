/**
 * Computes the directions in which the rows of a sparse matrix mostly lie: the span of its first right singular
 * vectors, by subspace iteration from random signs (Halko, Martinsson and Tropp 2011, algorithm 4.4). Cosines within
 * the span do not depend on its basis, so the singular vectors themselves are not computed. The same matrix gives the
 * same basis on every machine.
 */
import type { TermMatrix } from './term-matrix.js';

/** Each iteration brings the span closer. */
const ITERATIONS = 5;
const SEED = 0x9e3779b9;
/** Fraction of the largest direction below which a direction is noise of 32-bit floats, and is omitted. */
const DIRECTION_SHARE_MIN = 1e-9;

type Sparse = Pick<TermMatrix, 'begins' | 'columns' | 'values'>;

/**
 * Returns columns × dimensions, row by row. Its columns are orthonormal, or zeros if the matrix has fewer directions.
 */
export function principalSubspace(matrix: Sparse, columnCount: number, dimensions: number): Float32Array {
  let basis = randomSigns(columnCount * dimensions);
  for (let iteration = 0; iteration < ITERATIONS; ++iteration) {
    orthonormalise(basis, dimensions);
    basis = multiplied(matrix, basis, dimensions);
  }
  // Twice, because once leaves rounding errors.
  orthonormalise(basis, dimensions);
  orthonormalise(basis, dimensions);
  return basis;
}

/** Transposed matrix × matrix × basis, one row at a time. */
function multiplied({ begins, columns, values }: Sparse, basis: Float32Array, dimensions: number): Float32Array {
  const product = new Float32Array(basis.length);
  const projected = new Float64Array(dimensions);
  for (let row = 0; row + 1 < begins.length; ++row) {
    const begin = begins[row] as number;
    const end = begins[row + 1] as number;
    projected.fill(0);
    for (let entry = begin; entry < end; ++entry) {
      const from = (columns[entry] as number) * dimensions;
      const value = values[entry] as number;
      for (let at = 0; at < dimensions; ++at) {
        projected[at] = (projected[at] as number) + value * (basis[from + at] as number);
      }
    }
    for (let entry = begin; entry < end; ++entry) {
      const to = (columns[entry] as number) * dimensions;
      const value = values[entry] as number;
      for (let at = 0; at < dimensions; ++at) {
        product[to + at] = (product[to + at] as number) + value * (projected[at] as number);
      }
    }
  }
  return product;
}

/** In place, by the Cholesky factor of its Gram matrix. */
function orthonormalise(basis: Float32Array, dimensions: number): void {
  const factor = choleskyFactor(gram(basis, dimensions), dimensions);
  for (let row = 0; row < basis.length; row += dimensions) {
    for (let column = 0; column < dimensions; ++column) {
      const diagonal = factor[column * dimensions + column] as number;
      let value = basis[row + column] as number;
      for (let before = 0; before < column; ++before) {
        value -= (factor[column * dimensions + before] as number) * (basis[row + before] as number);
      }
      basis[row + column] = diagonal === 0 ? 0 : value / diagonal;
    }
  }
}

/** Products of all pairs of columns; the lower half of the Gram matrix. */
function gram(basis: Float32Array, dimensions: number): Float64Array {
  const products = new Float64Array(dimensions * dimensions);
  for (let row = 0; row < basis.length; row += dimensions) {
    for (let left = 0; left < dimensions; ++left) {
      const value = basis[row + left] as number;
      if (value === 0) continue;
      const to = left * dimensions;
      for (let right = 0; right <= left; ++right) {
        products[to + right] = (products[to + right] as number) + value * (basis[row + right] as number);
      }
    }
  }
  return products;
}

/** The lower factor, in place; a column that depends on earlier ones is zero. */
function choleskyFactor(products: Float64Array, dimensions: number): Float64Array {
  let largest = 0;
  for (let at = 0; at < dimensions; ++at) largest = Math.max(largest, products[at * dimensions + at] as number);
  for (let column = 0; column < dimensions; ++column) {
    let rest = products[column * dimensions + column] as number;
    for (let before = 0; before < column; ++before) rest -= (products[column * dimensions + before] as number) ** 2;
    const diagonal = rest > largest * DIRECTION_SHARE_MIN ? Math.sqrt(rest) : 0;
    products[column * dimensions + column] = diagonal;
    for (let row = column + 1; row < dimensions; ++row) {
      let value = products[row * dimensions + column] as number;
      for (let before = 0; before < column; ++before) {
        value -= (products[row * dimensions + before] as number) * (products[column * dimensions + before] as number);
      }
      products[row * dimensions + column] = diagonal === 0 ? 0 : value / diagonal;
    }
  }
  return products;
}

/** Random signs +1 and -1, by xorshift (Marsaglia 2003). */
function randomSigns(count: number): Float32Array {
  const signs = new Float32Array(count);
  let state = SEED;
  for (let at = 0; at < count; ++at) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    signs[at] = state < 0 ? -1 : 1;
  }
  return signs;
}
