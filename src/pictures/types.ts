/** Types of what is read from a picture, its faults and limits. */

/** Supported formats, as named in the API. */
export const PICTURE_FORMATS = ['jpeg', 'png', 'webp', 'gif', 'avif'] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

export interface SeenPicture {
  readonly format: PictureFormat;
  /** In pixels as displayed, after the rotation that the file states. */
  readonly width: number;
  readonly height: number;
}

export interface DescribedPicture extends SeenPicture {
  /** DESCRIPTOR_DIMENSIONS numbers, of length 1. */
  readonly vector: Float32Array;
}

export interface ShapedPicture extends SeenPicture {
  /** Pixels of the shape asked for, three bytes each: red, green, blue. */
  readonly pixels: Uint8Array;
}

/** Reasons why a picture cannot be read, as named in the API. */
export const PICTURE_FAULTS = ['not-a-picture', 'damaged', 'too-large', 'timed-out'] as const;
export type PictureFault = (typeof PICTURE_FAULTS)[number];

export class PictureError extends Error {
  override readonly name = 'PictureError';

  constructor(
    readonly fault: PictureFault,
    message: string,
  ) {
    super(message);
  }
}

/** Limits for reading a picture. */
export interface PictureLimits {
  /** Width times height of one frame. A file that claims more is not decoded. */
  readonly pixelsMax: number;
  /** CPU time. */
  readonly msMax: number;
}
