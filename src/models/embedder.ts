/** What providers of models are made of; what lists see of a model is the `Embedder` of `src/vectors`. */
import type { CosinesAtRandom, PictureShape, TextToEmbed } from '../vectors/index.js';

/** A provider of vectors, as one of them is spoken to; what all have in common is around it (`guarded-embedder.ts`). */
export interface EmbeddingSource {
  /** As an `Embedder` does it. */
  passages(texts: readonly TextToEmbed[], signal?: AbortSignal): Promise<readonly (readonly string[])[]>;
  /** Whatever it answered, one after the other; checked by the caller. The texts have their prefixes. */
  embed(texts: readonly string[], asked: EmbeddingCall): Promise<readonly unknown[]>;
}

export interface EmbeddingCall {
  /** Searches wait for theirs, records do not. */
  readonly purpose: 'document' | 'query';
  readonly signal?: AbortSignal | undefined;
}

export interface SourceDescription {
  readonly dimensions: number;
  /** Changes when its vectors do. */
  readonly fingerprint: string;
  /** What holds where whoever adds the model says nothing of it. */
  readonly tokensMax?: number | null;
  readonly queryPrefix?: string | null;
  readonly documentPrefix?: string | null;
  /** False: it reads pictures alone. Default true. */
  readonly readsTexts?: boolean;
  /** Null or undefined: it reads texts alone. */
  readonly pictures?: DescribedPictures | null;
}

/** What a model that reads pictures is found to be. */
export interface DescribedPictures {
  readonly shape: PictureShape;
  /** Of made pictures, two at a time. */
  readonly random: CosinesAtRandom;
  /** Of made pictures and texts; null of a model that reads no texts. */
  readonly words: CosinesAtRandom | null;
}
