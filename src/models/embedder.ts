/** Interfaces that providers of models implement. Lists see a model as the `Embedder` of `src/vectors`. */
import type { CosinesAtRandom, PictureShape, TextToEmbed } from '../vectors/index.js';

/** Protocol of one provider of vectors. What providers have in common is in `guarded-embedder.ts`. */
export interface EmbeddingSource {
  /** Cuts texts into passages, as `Embedder.passages`. */
  passages(texts: readonly TextToEmbed[], signal?: AbortSignal): Promise<readonly (readonly string[])[]>;
  /**
   * Returns the answer to each text, in order and unchecked: the caller validates them. Texts include their prefixes.
   */
  embed(texts: readonly string[], asked: EmbeddingCall): Promise<readonly unknown[]>;
}

export interface EmbeddingCall {
  /** Calls for `query` have priority, since searches wait for them. */
  readonly purpose: 'document' | 'query';
  readonly signal?: AbortSignal | undefined;
}

export interface SourceDescription {
  readonly dimensions: number;
  /** Changes if the model's vectors change. */
  readonly fingerprint: string;
  /** Defaults for settings not given when the model is added. */
  readonly tokensMax?: number | null;
  readonly queryPrefix?: string | null;
  readonly documentPrefix?: string | null;
  /** False if the model reads only pictures. Default true. */
  readonly readsTexts?: boolean;
  /** Null or undefined if the model reads only texts. */
  readonly pictures?: DescribedPictures | null;
}

/** Properties of a model that reads pictures. */
export interface DescribedPictures {
  readonly shape: PictureShape;
  /** Cosines of pairs of generated pictures. */
  readonly random: CosinesAtRandom;
  /** Cosines of generated pictures and texts. Null if the model reads no texts. */
  readonly words: CosinesAtRandom | null;
}
