/** Pictures drawn from a seed, in any supported format. */
import sharp, { type Sharp } from 'sharp';
import { SeededRandom } from './random.js';

const CHANNELS = 3;
const SHAPES = 7;

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}
const SIZE: PictureSize = { width: 240, height: 160 };

/** Draws ellipses and boxes on a colour gradient. Different seeds give different pictures. */
export function drawnPicture(seed: number, { width, height }: PictureSize = SIZE): Sharp {
  const random = new SeededRandom(seed + 1);
  const colour = () => [random.below(256), random.below(256), random.below(256)];
  const [from, to] = [colour(), colour()];
  const shapes = Array.from({ length: SHAPES }, () => ({
    isBox: random.below(2) === 0,
    colour: colour(),
    x: random.next() * width,
    y: random.next() * height,
    across: width * (0.05 + random.next() * 0.25),
    down: height * (0.05 + random.next() * 0.25),
  }));
  const pixels = Buffer.alloc(width * height * CHANNELS);
  for (let at = 0; at < width * height; ++at) {
    const [x, y] = [at % width, Math.floor(at / width)];
    const shape = shapes.findLast((each) => {
      const [right, below] = [Math.abs(x - each.x) / each.across, Math.abs(y - each.y) / each.down];
      return each.isBox ? right < 1 && below < 1 : Math.hypot(right, below) < 1;
    });
    for (let channel = 0; channel < CHANNELS; ++channel) {
      const slope = (from[channel] ?? 0) + (((to[channel] ?? 0) - (from[channel] ?? 0)) * x) / width;
      pixels[at * CHANNELS + channel] = shape?.colour[channel] ?? slope;
    }
  }
  return sharp(pixels, { raw: { width, height, channels: CHANNELS } });
}

/** Returns the picture as a JPEG. */
export function jpegOf(seed: number, size: PictureSize = SIZE): Promise<Buffer> {
  return drawnPicture(seed, size).jpeg({ quality: 90 }).toBuffer();
}
