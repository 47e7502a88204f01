/** Protocol of the process that reads pictures. */
import type { FileProtocol } from '../platform/hosts/index.js';
import type { PictureShape } from '../vectors/index.js';
import type { DescribedPicture, PictureFault, PictureLimits, ShapedPicture } from './types.js';

/** How a picture is read: as pixels if a shape is given, otherwise as a vector. */
export interface PictureReading extends PictureLimits {
  readonly shape?: PictureShape;
}

export type PictureProtocol = FileProtocol<DescribedPicture | ShapedPicture, PictureReading, PictureFault>;
