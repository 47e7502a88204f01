/** What providers of models are made of; what lists see of a model is the `Embedder` of `src/vectors`. */
import type { TextToEmbed } from '../vectors/index.js';

/** A provider of vectors, as one of them is spoken to; what all have in common is around it (`guarded-embedder.ts`). */
export interface EmbeddingSource {
  /** What it is now. Rejects with a ModelError where it cannot be asked. */
  describe(signal?: AbortSignal): Promise<SourceDescription>;
  /** As an `Embedder` does it. */
  passages(texts: readonly TextToEmbed[], signal?: AbortSignal): Promise<readonly (readonly string[])[]>;
  /** Whatever it answered, one after the other; checked by the caller. The texts have their prefixes. */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly unknown[]>;
  close(): Promise<void>;
}

export interface SourceDescription {
  readonly dimensions: number;
  /** Changes when its vectors do. */
  readonly fingerprint: string;
}
