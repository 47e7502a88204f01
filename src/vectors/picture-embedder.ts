/** What turns pictures into vectors, as lists see it. The models themselves are `src/models`; files are decoded by `src/pictures`. */
import type { Embedder } from './embedder.js';

/** By which sizes of pictures are changed, as libvips names them. */
export type ResizeKernel = 'nearest' | 'linear' | 'cubic' | 'lanczos3';

/** How many pixels a model is given of a picture, and which. */
export interface PictureShape {
  readonly width: number;
  readonly height: number;
  /** The picture is made so large that its short side has so many pixels, and its middle is taken; null: all of it is stretched to the size. */
  readonly shortSide: number | null;
  readonly kernel: ResizeKernel;
}

/** Cosines of vectors that have nothing to do with each other. */
export interface CosinesAtRandom {
  readonly mean: number;
  readonly deviation: number;
}

/** What may be compared with vectors of pictures, of a model that reads texts as well. */
export interface WordsForPictures {
  readonly embedder: Embedder;
  /** Of texts and pictures. */
  readonly random: CosinesAtRandom;
}

export interface PictureEmbedder {
  /** Vectors of different versions cannot be compared. */
  readonly version: string;
  readonly dimensions: number;
  readonly shape: PictureShape;
  /** Of pictures. */
  readonly random: CosinesAtRandom;
  /** Undefined where it reads no texts. */
  readonly words?: WordsForPictures;
  /** A vector of length 1 of pixels in that shape, three bytes each: red, green, blue. Rejects with a `ModelError`. */
  embed(pixels: Uint8Array, purpose: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array>;
}
