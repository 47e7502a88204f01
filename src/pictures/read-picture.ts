/**
 * Reads an untrusted picture into a few pixels and a descriptor. Decoders are native code, so this runs in a separate
 * process. Unsupported formats have no decoder there, whatever a file claims to be.
 */
import sharp, { type Sharp } from 'sharp';
import type { PictureShape } from '../vectors/index.js';
import { describePixels, PIXELS_SIDE } from './descriptor.js';
import { pictureFormat } from './picture-format.js';
import { withoutTexts } from './png-texts.js';
import { PictureError, type DescribedPicture, type PictureLimits, type ShapedPicture } from './types.js';

sharp.cache(false);
// Parallelism comes from several processes.
sharp.concurrency(1);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((format) => `VipsForeignLoad${format}Buffer`),
});

/** Background of transparent pictures. */
const GROUND = '#ffffff';
const CHANNELS = 3;
/** Shape in which the descriptor sees a picture. */
const WHOLE: PictureShape = { width: PIXELS_SIDE, height: PIXELS_SIDE, shortSide: null, kernel: 'lanczos3' };

/** Throws a PictureError if the picture cannot be decoded. */
export async function readPicture(bytes: Uint8Array, limits: PictureLimits): Promise<DescribedPicture> {
  const { pixels, ...seen } = await shapePicture(bytes, limits, WHOLE);
  return { ...seen, vector: describePixels(pixels) };
}

/** Like `readPicture`, but returns pixels of a given shape. */
export async function shapePicture(
  bytes: Uint8Array,
  { pixelsMax }: PictureLimits,
  shape: PictureShape,
): Promise<ShapedPicture> {
  const format = pictureFormat(bytes);
  if (format === undefined)
    throw new PictureError('not-a-picture', 'The bytes are not those of a JPEG, PNG, WebP, GIF or AVIF picture');
  try {
    const plain = format === 'png' ? withoutTexts(bytes) : bytes;
    const picture = sharp(plain, { limitInputPixels: pixelsMax, failOn: 'error', autoOrient: true });
    const { width, height } = (await picture.metadata()).autoOrient;
    if (width * height > pixelsMax) throw tooManyPixels(width * height, pixelsMax);
    return { format, width, height, pixels: await pixelsOf(picture, { width, height }, shape) };
  } catch (error) {
    throw error instanceof PictureError ? error : asFault(error, pixelsMax);
  }
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Returns three bytes per pixel: red, green, blue. */
async function pixelsOf(picture: Sharp, size: Size, shape: PictureShape): Promise<Uint8Array> {
  const { width, height } = shape;
  const pixels = await shaped(picture.flatten({ background: GROUND }), size, shape)
    .toColourspace('srgb')
    .removeAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer();
  if (pixels.length !== CHANNELS * width * height)
    throw new PictureError('damaged', 'The picture has other colours than it says');
  return pixels;
}

/**
 * Resizes a picture. If it is cropped to its middle, only that part is resized: of a very long picture, the whole would
 * be millions of pixels.
 */
function shaped(picture: Sharp, size: Size, { width, height, shortSide, kernel }: PictureShape): Sharp {
  if (shortSide === null) return picture.resize(width, height, { fit: 'fill', kernel });
  const scale = shortSide / Math.min(size.width, size.height);
  const kept = {
    width: Math.min(size.width, Math.max(1, Math.round(width / scale))),
    height: Math.min(size.height, Math.max(1, Math.round(height / scale))),
  };
  const left = Math.floor((size.width - kept.width) / 2);
  const top = Math.floor((size.height - kept.height) / 2);
  return picture.extract({ left, top, ...kept }).resize(width, height, { fit: 'fill', kernel });
}

function tooManyPixels(pixels: number, pixelsMax: number): PictureError {
  return new PictureError('too-large', `The picture has ${pixels} pixels, more than ${pixelsMax}`);
}

/** Converts an error of the library, which concerns the file. */
function asFault(error: unknown, pixelsMax: number): PictureError {
  const { message } = error as Error;
  if (/exceeds pixel limit/i.test(message))
    return new PictureError('too-large', `The picture has more than ${pixelsMax} pixels`);
  const [reason = ''] = message.split('\n');
  return new PictureError('damaged', `The picture cannot be decoded: ${reason.slice(0, 200)}`);
}
