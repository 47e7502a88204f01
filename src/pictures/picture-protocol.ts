/** What is asked of the process that reads pictures. */
import type { FileProtocol } from '../platform/hosts/index.js';
import type { DescribedPicture, PictureFault, PictureLimits } from './types.js';

export type PictureProtocol = FileProtocol<DescribedPicture, PictureLimits, PictureFault>;
