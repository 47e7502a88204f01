/**
 * Describes a picture's appearance as a vector, without a model. Two pictures have a large cosine if one is the other
 * resized, recompressed, slightly cropped, in greyscale or with a mark on it, and a smaller one if colours, layout and
 * edges are alike.
 *
 *   layout    low frequencies of the brightness (a cosine transform), scaled to their usual size
 *   hash      their signs, softened near zero: independent of contrast
 *   edges     strength of brightness changes in 8 directions, in each of 4 × 4 overlapping tiles
 *   colours   low frequencies of two colour differences
 *   ground    brightness and a constant, so that a picture of one colour has a vector too
 *
 * Each block has length 1, if it says anything, times its weight; the whole vector has length 1. Pure functions. A
 * change of the formula needs a new DESCRIPTOR_VERSION, since vectors of different versions are not comparable.
 */

export const DESCRIPTOR_VERSION = 'built-in-1';
/** Width and height of the pixels examined, three bytes each: red, green, blue. */
export const PIXELS_SIDE = 64;

const FREQUENCIES = 8;
const COLOUR_FREQUENCIES = 4;
const TILES = 4;
const DIRECTIONS = 8;
const LAYOUT = FREQUENCIES * FREQUENCIES - 1;
const EDGES = TILES * TILES * DIRECTIONS;
const COLOURS = 2 * COLOUR_FREQUENCIES * COLOUR_FREQUENCIES;
const GROUND = 2;
export const DESCRIPTOR_DIMENSIONS = 2 * LAYOUT + EDGES + COLOURS + GROUND;

/** Weights of the blocks, chosen by `bench/pictures`. */
export interface DescriptorWeights {
  readonly layout: number;
  readonly hash: number;
  readonly edges: number;
  readonly colours: number;
  readonly ground: number;
}
export const DESCRIPTOR_WEIGHTS: DescriptorWeights = { layout: 0.5, hash: 0.5, edges: 1, colours: 0.5, ground: 0.1 };

/** Length of a block at which it counts half, because a decoder's noise is as long. */
const LAYOUT_NOISE = 0.02;
const EDGES_NOISE = 0.02;
const COLOURS_NOISE = 0.05;
/** Size of a coefficient relative to the others, below which its sign is softened. */
const SIGN_SOFTNESS = 0.3;
const CHANNELS = 3;
const BYTE_MAX = 255;
/** ITU-R BT.601. */
const [RED, GREEN, BLUE] = [0.299, 0.587, 0.114];
/** Exponent by which coefficients of natural pictures decrease as the frequency rises. */
const FALL = 0.8;

/** Describes PIXELS_SIDE² pixels by a vector of DESCRIPTOR_DIMENSIONS numbers and length 1, whatever the pixels are. */
export function describePixels(pixels: Uint8Array, weights: DescriptorWeights = DESCRIPTOR_WEIGHTS): Float32Array {
  const { brightness, blueness, redness } = planesOf(pixels);
  const transformed = lowFrequencies(brightness, FREQUENCIES);
  const layout = transformed.subarray(1).map((value, index) => value * rise(index + 1, FREQUENCIES));
  const colours = new Float64Array(COLOURS);
  for (const [place, plane] of [blueness, redness].entries())
    colours.set(
      lowFrequencies(plane, COLOUR_FREQUENCIES).map((value, index) => value * rise(index, COLOUR_FREQUENCIES)),
      (place * COLOURS) / 2,
    );
  const vector = new Float64Array(DESCRIPTOR_DIMENSIONS);
  let offset = 0;
  const append = (block: Float64Array, weight: number, noise: number) => {
    const length = Math.hypot(...block);
    const scale = length === 0 ? 0 : weight / Math.hypot(length, noise);
    for (const value of block) vector[offset++] = value * scale;
  };
  append(layout, weights.layout, LAYOUT_NOISE);
  append(signsOf(layout), weights.hash, Math.sqrt(LAYOUT) * SIGN_SOFTNESS);
  append(edgesOf(brightness), weights.edges, EDGES_NOISE);
  append(colours, weights.colours, COLOURS_NOISE);
  append(Float64Array.of(2 * (transformed[0] ?? 0) - 1, 1), weights.ground, 0);
  const length = Math.hypot(...vector);
  return Float32Array.from(vector, (value) => value / length);
}

interface Planes {
  /** In 0..1. */
  readonly brightness: Float64Array;
  /** In -1..1. */
  readonly blueness: Float64Array;
  readonly redness: Float64Array;
}

function planesOf(pixels: Uint8Array): Planes {
  const count = PIXELS_SIDE * PIXELS_SIDE;
  if (pixels.length !== CHANNELS * count)
    throw new RangeError(`${CHANNELS * count} bytes of pixels are expected, not ${pixels.length}`);
  const planes = {
    brightness: new Float64Array(count),
    blueness: new Float64Array(count),
    redness: new Float64Array(count),
  };
  for (let index = 0; index < count; ++index) {
    const red = (pixels[CHANNELS * index] as number) / BYTE_MAX;
    const green = (pixels[CHANNELS * index + 1] as number) / BYTE_MAX;
    const blue = (pixels[CHANNELS * index + 2] as number) / BYTE_MAX;
    const brightness = RED * red + GREEN * green + BLUE * blue;
    planes.brightness[index] = brightness;
    planes.blueness[index] = blue - brightness;
    planes.redness[index] = red - brightness;
  }
  return planes;
}

/**
 * Returns the two-dimensional cosine transform: `frequencies` rows of `frequencies` numbers, beginning with the mean. A
 * plane of ones gives 1, 0, 0, …
 */
function lowFrequencies(plane: Float64Array, frequencies: number): Float64Array {
  const rows = new Float64Array(PIXELS_SIDE * frequencies);
  for (let y = 0; y < PIXELS_SIDE; ++y)
    for (let u = 0; u < frequencies; ++u) {
      let sum = 0;
      for (let x = 0; x < PIXELS_SIDE; ++x) sum += (plane[y * PIXELS_SIDE + x] as number) * cosine(u, x);
      rows[y * frequencies + u] = sum;
    }
  const found = new Float64Array(frequencies * frequencies);
  for (let v = 0; v < frequencies; ++v)
    for (let u = 0; u < frequencies; ++u) {
      let sum = 0;
      for (let y = 0; y < PIXELS_SIDE; ++y) sum += (rows[y * frequencies + u] as number) * cosine(v, y);
      found[v * frequencies + u] = sum / (PIXELS_SIDE * PIXELS_SIDE);
    }
  return found;
}

const COSINES = Float64Array.from({ length: FREQUENCIES * PIXELS_SIDE }, (_, index) => {
  const frequency = Math.floor(index / PIXELS_SIDE);
  return (
    Math.cos((Math.PI * frequency * ((index % PIXELS_SIDE) + 0.5)) / PIXELS_SIDE) * (frequency === 0 ? 1 : Math.SQRT2)
  );
});

function cosine(frequency: number, place: number): number {
  return COSINES[frequency * PIXELS_SIDE + place] as number;
}

/** Returns the factor that makes coefficients about equally large in natural pictures. */
function rise(index: number, frequencies: number): number {
  return Math.max(1, Math.hypot(index % frequencies, Math.floor(index / frequencies))) ** FALL;
}

function signsOf(layout: Float64Array): Float64Array {
  const usual = Math.hypot(...layout) / Math.sqrt(layout.length);
  return layout.map((value) =>
    usual === 0 ? 0 : Math.tanh(value / (SIGN_SOFTNESS * Math.hypot(usual, LAYOUT_NOISE / 10))),
  );
}

/**
 * Distributes each change over the two nearest directions and four nearest tiles, so that a small shift changes little.
 */
function edgesOf(brightness: Float64Array): Float64Array {
  const tiles = new Float64Array(EDGES);
  for (let y = 1; y < PIXELS_SIDE - 1; ++y)
    for (let x = 1; x < PIXELS_SIDE - 1; ++x) {
      const at = y * PIXELS_SIDE + x;
      const across = (brightness[at + 1] as number) - (brightness[at - 1] as number);
      const down = (brightness[at + PIXELS_SIDE] as number) - (brightness[at - PIXELS_SIDE] as number);
      const strength = Math.hypot(across, down);
      if (strength > 0) addEdge(tiles, { x, y, strength: Math.sqrt(strength), turn: Math.atan2(down, across) });
    }
  return tiles.map((strength) => strength / (PIXELS_SIDE * PIXELS_SIDE));
}

interface Edge {
  readonly x: number;
  readonly y: number;
  readonly strength: number;
  /** Direction in radians. Light on dark counts as dark on light. */
  readonly turn: number;
}

function addEdge(tiles: Float64Array, { x, y, strength, turn }: Edge): void {
  const across = shared(((x + 0.5) / PIXELS_SIDE) * TILES - 0.5);
  const down = shared(((y + 0.5) / PIXELS_SIDE) * TILES - 0.5);
  const directions = shared(((turn + Math.PI) / Math.PI) * DIRECTIONS);
  for (const [row, ofRow] of down)
    for (const [column, ofColumn] of across) {
      if (row < 0 || row >= TILES || column < 0 || column >= TILES) continue;
      for (const [towards, ofDirection] of directions) {
        const place = (row * TILES + column) * DIRECTIONS + (towards % DIRECTIONS);
        tiles[place] = (tiles[place] as number) + strength * ofRow * ofColumn * ofDirection;
      }
    }
}

/** Returns the two integers around a number and the share of each (linear interpolation). */
function shared(place: number): readonly (readonly [number, number])[] {
  const below = Math.floor(place);
  return [
    [below, 1 - (place - below)],
    [below + 1, place - below],
  ];
}
