/** Embedder of pictures over any source: adds rate limit and circuit breaker, and validates the vectors. */
import { createHash } from 'node:crypto';
import type { CosinesAtRandom, Embedder, PictureEmbedder, PictureShape, WordsForPictures } from '../vectors/index.js';
import { checkedVectors } from './checked-answers.js';
import type { DescribedPictures, EmbeddingCall } from './embedder.js';
import type { GuardedCalls } from './guarded-calls.js';
import type { Model } from './types.js';

const VERSION_CHARACTERS = 24;
/** Counted against the rate limit: pictures have no tokens. */
const TOKENS = 0;

export interface PictureSource {
  /** Returns the answer unchecked: the caller validates it. */
  embed(pixels: Uint8Array, asked: EmbeddingCall): Promise<unknown>;
}

export interface GuardedPictureEmbedderOptions {
  readonly model: Pick<Model, 'provider' | 'fingerprint'> & { readonly dimensions: number };
  /** What the model said of itself. */
  readonly read: DescribedPictures;
  readonly source: PictureSource;
  readonly calls: GuardedCalls;
  /** Embedder of the model's texts. Undefined if it reads none. */
  readonly embedder: Embedder | undefined;
}

export class GuardedPictureEmbedder implements PictureEmbedder {
  readonly version: string;
  readonly dimensions: number;
  readonly shape: PictureShape;
  readonly random: CosinesAtRandom;
  readonly words?: WordsForPictures;

  constructor(private readonly options: GuardedPictureEmbedderOptions) {
    const { model, read, embedder } = options;
    // Text prefixes are left out, since they do not change vectors of pictures.
    const decisive = ['pictures', model.provider, model.fingerprint, model.dimensions];
    this.version = createHash('sha256').update(JSON.stringify(decisive)).digest('hex').slice(0, VERSION_CHARACTERS);
    this.dimensions = model.dimensions;
    this.shape = read.shape;
    this.random = read.random;
    if (embedder !== undefined && read.words !== null) this.words = { embedder, random: read.words };
  }

  async embed(pixels: Uint8Array, purpose: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array> {
    const { source, calls } = this.options;
    const { dimensions } = this;
    const asked = { purpose, signal };
    return calls.run(
      TOKENS,
      async () => {
        const [vector] = checkedVectors([await source.embed(pixels, asked)], { count: 1, dimensions });
        return vector as Float32Array;
      },
      signal,
    );
  }
}
