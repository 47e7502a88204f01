/** What is read of a picture, and what keeps it from being read. */

/** As the API names the formats that are read. */
export const PICTURE_FORMATS = ['jpeg', 'png', 'webp', 'gif', 'avif'] as const;
export type PictureFormat = (typeof PICTURE_FORMATS)[number];

export interface SeenPicture {
  readonly format: PictureFormat;
  /** Pixels, as it is to be seen: turned where the file says so. */
  readonly width: number;
  readonly height: number;
}

export interface DescribedPicture extends SeenPicture {
  /** DESCRIPTOR_DIMENSIONS numbers of length 1. */
  readonly vector: Float32Array;
}

export interface ShapedPicture extends SeenPicture {
  /** As many as were asked for, three bytes each: red, green, blue. */
  readonly pixels: Uint8Array;
}

/** Why nothing can be said of a picture, as the API names it. */
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

/** Within which a picture is read. */
export interface PictureLimits {
  /** Width times height, of one frame; a file that claims more is not decoded. */
  readonly pixelsMax: number;
  /** Of a processor. */
  readonly msMax: number;
}
