/**
 * A picture of others as few pixels, and what describes it. Decoders are native code: this is called in a process of its own. Formats that are
 * not read have no decoder there, whatever a file says that it is.
 */
import sharp, { type Sharp } from 'sharp';
import { describePixels, PIXELS_SIDE } from './descriptor.js';
import { pictureFormat } from './picture-format.js';
import { PictureError, type DescribedPicture, type PictureLimits } from './types.js';

sharp.cache(false);
// Pictures are read side by side by processes.
sharp.concurrency(1);
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Heif'].map((format) => `VipsForeignLoad${format}Buffer`),
});

/** Behind what shines through a picture. */
const GROUND = '#ffffff';
const CHANNELS = 3;

/** Throws a PictureError where there is nothing to be seen. */
export async function readPicture(bytes: Uint8Array, { pixelsMax }: PictureLimits): Promise<DescribedPicture> {
  const format = pictureFormat(bytes);
  if (format === undefined)
    throw new PictureError('not-a-picture', 'The bytes are not those of a JPEG, PNG, WebP, GIF or AVIF picture');
  try {
    const picture = sharp(bytes, { limitInputPixels: pixelsMax, failOn: 'error', autoOrient: true });
    const { width, height } = (await picture.metadata()).autoOrient;
    if (width * height > pixelsMax) throw tooManyPixels(width * height, pixelsMax);
    return { format, width, height, vector: describePixels(await pixelsOf(picture)) };
  } catch (error) {
    throw error instanceof PictureError ? error : asFault(error, pixelsMax);
  }
}

/** PIXELS_SIDE squared, of three bytes each: red, green, blue. */
async function pixelsOf(picture: Sharp): Promise<Uint8Array> {
  const pixels = await picture
    .flatten({ background: GROUND })
    .resize(PIXELS_SIDE, PIXELS_SIDE, { fit: 'fill' })
    .toColourspace('srgb')
    .removeAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer();
  if (pixels.length !== CHANNELS * PIXELS_SIDE * PIXELS_SIDE)
    throw new PictureError('damaged', 'The picture has other colours than it says');
  return pixels;
}

function tooManyPixels(pixels: number, pixelsMax: number): PictureError {
  return new PictureError('too-large', `The picture has ${pixels} pixels, more than ${pixelsMax}`);
}

/** What the library says of a file is about the file. */
function asFault(error: unknown, pixelsMax: number): PictureError {
  const { message } = error as Error;
  if (/exceeds pixel limit/i.test(message))
    return new PictureError('too-large', `The picture has more than ${pixelsMax} pixels`);
  const [reason = ''] = message.split('\n');
  return new PictureError('damaged', `The picture cannot be decoded: ${reason.slice(0, 200)}`);
}
