/**
 * Pools the states of a text's tokens into one vector, with the names that sentence-transformers uses. Pure functions.
 */

const POOLINGS = ['cls', 'mean', 'max', 'lasttoken'] as const;
export type Pooling = (typeof POOLINGS)[number];

/** Pools `states`, which has a row of `dimensions` numbers per token of one text, without padding. */
export function pooled(states: Float32Array, dimensions: number, pooling: Pooling): Float32Array {
  switch (pooling) {
    case 'cls':
      return states.slice(0, dimensions);
    case 'lasttoken':
      return states.slice(states.length - dimensions);
    case 'max':
      return folded(states, dimensions, Math.max);
    case 'mean':
      return meanOf(states, dimensions);
  }
}

/** Uses no function call per number, since a search waits for it. */
function meanOf(states: Float32Array, dimensions: number): Float32Array {
  const mean = states.slice(0, dimensions);
  for (let at = dimensions; at < states.length; at++) {
    const index = at % dimensions;
    mean[index] = (mean[index] as number) + (states[at] as number);
  }
  const tokens = states.length / dimensions;
  for (let index = 0; index < dimensions; index++) mean[index] = (mean[index] as number) / tokens;
  return mean;
}

function folded(states: Float32Array, dimensions: number, fold: (left: number, right: number) => number): Float32Array {
  const vector = states.slice(0, dimensions);
  for (let begin = dimensions; begin < states.length; begin += dimensions) {
    for (let index = 0; index < dimensions; index++) {
      vector[index] = fold(vector[index] as number, states[begin + index] as number);
    }
  }
  return vector;
}
