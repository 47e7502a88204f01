/**
 * Unrelated texts and pictures, which show what cosines a model gives to unrelated input. The pictures are generated,
 * and more alike than photographs are. Pure functions.
 */
import type { CosinesAtRandom, PictureShape } from '../../vectors/index.js';

export const PROBE_TEXTS = [
  'a gannet dives into the sea',
  'a wooden chair beside a window',
  'two children on a red bicycle',
  'a city street at night in the rain',
  'a plate of noodles with vegetables',
  'a map of the underground railway',
  'running shoes, blue, size 42',
  'an old man plays the violin',
  'snow on a mountain under a clear sky',
  'a laptop computer with a silver case',
  'a white cat asleep on a sofa',
  'a page of a newspaper',
] as const;

const PICTURES = 12;
const CHANNELS = 3;
const BYTE_MAX = 255;
const WAVES = 5;
const TURN = 2 * Math.PI;
const ACROSS_MAX = 9;
/** Golden ratio: its multiples modulo 1 give each seed a number in 0..1 that is far from the others. */
const GOLDEN = 0.618_033_988_749_895;

/** Returns pictures of waves with different colours, lengths and directions, some with hard edges. */
export function probePictures({ width, height }: PictureShape): readonly Uint8Array[] {
  return Array.from({ length: PICTURES }, (_, picture) => {
    const pixels = new Uint8Array(width * height * CHANNELS);
    for (let at = 0; at < pixels.length; at++) {
      const colour = at % CHANNELS;
      const pixel = (at - colour) / CHANNELS;
      const value = valueAt(picture, colour, (pixel % width) / width, Math.floor(pixel / width) / height);
      pixels[at] = Math.round(BYTE_MAX * value);
    }
    return pixels;
  });
}

function valueAt(picture: number, colour: number, x: number, y: number): number {
  let sum = 0;
  for (let wave = 0; wave < WAVES; wave++) {
    const [across, down, begin] = [0, 1, 2].map((which) => shareOf((picture * WAVES + wave) * CHANNELS + which)) as [
      number,
      number,
      number,
    ];
    const phase = TURN * (across * ACROSS_MAX * x + down * ACROSS_MAX * y + begin + shareOf(picture + colour) / 2);
    const height = Math.sin(phase);
    sum += picture % 2 === 0 ? height : Math.sign(height);
  }
  return Math.min(1, Math.max(0, 0.5 + sum / WAVES));
}

function shareOf(seed: number): number {
  return (seed * GOLDEN) % 1;
}

/**
 * Returns mean and deviation of the cosines of all pairs of one left and one right vector. With one argument, of all
 * pairs of two different vectors.
 */
export function cosinesAtRandom(left: readonly Float32Array[], right: readonly Float32Array[] = left): CosinesAtRandom {
  const cosines = left.flatMap((one, at) =>
    (left === right ? right.slice(at + 1) : right).map((other) => cosineOf(one, other)),
  );
  const mean = cosines.reduce((sum, each) => sum + each, 0) / cosines.length;
  const square = cosines.reduce((sum, each) => sum + (each - mean) ** 2, 0) / cosines.length;
  return { mean, deviation: Math.sqrt(square) };
}

/** Returns NaN if one of them is zero. */
function cosineOf(left: Float32Array, right: Float32Array): number {
  const product = left.reduce((sum, value, at) => sum + value * (right[at] as number), 0);
  return product / (Math.hypot(...left) * Math.hypot(...right));
}
