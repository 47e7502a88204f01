/**
 * Models that embed pictures, as lists see them. The models themselves are in `src/models`; `src/pictures` decodes the
 * files.
 */
import type { Embedder } from './embedder.js';

/** Interpolation for resizing pictures, as libvips names it. */
export type ResizeKernel = 'nearest' | 'linear' | 'cubic' | 'lanczos3';

/** The pixels of a picture that a model gets. */
export interface PictureShape {
  readonly width: number;
  readonly height: number;
  /**
   * The picture is resized so that its short side has this many pixels, and its centre is cropped; null: it is
   * stretched to the size.
   */
  readonly shortSide: number | null;
  readonly kernel: ResizeKernel;
}

/** Cosines of unrelated vectors. */
export interface CosinesAtRandom {
  readonly mean: number;
  readonly deviation: number;
}

/** Embeds texts whose vectors can be compared with those of pictures, for models that read both. */
export interface WordsForPictures {
  readonly embedder: Embedder;
  /** Between texts and pictures. */
  readonly random: CosinesAtRandom;
}

export interface PictureEmbedder {
  /** Vectors of different versions cannot be compared. */
  readonly version: string;
  readonly dimensions: number;
  readonly shape: PictureShape;
  /** Between pictures. */
  readonly random: CosinesAtRandom;
  /** Undefined if the model reads no texts. */
  readonly words?: WordsForPictures;
  /**
   * Returns a vector of length 1 for pixels of that shape, three bytes each: red, green, blue. Rejects with a
   * `ModelError`.
   */
  embed(pixels: Uint8Array, purpose: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array>;
}
