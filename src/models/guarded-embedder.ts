/** Embedder over any source: adds prefixes, batches, rate limit and circuit breaker, and validates the vectors. */
import { createHash } from 'node:crypto';
import { checkedVectors } from './checked-answers.js';
import type { Embedder, TextToEmbed } from '../vectors/index.js';
import type { EmbeddingCall, EmbeddingSource } from './embedder.js';
import type { GuardedCalls } from './guarded-calls.js';
import { estimateTokens } from './passages.js';
import type { Model } from './types.js';

const VERSION_CHARACTERS = 24;
/** Limit of tokens per call: larger calls are slow, and expensive to repeat. */
const BATCH_TOKENS_MAX = 32_768;

/** Properties that determine the vectors. */
export type EmbeddedBy = Pick<
  Model,
  'provider' | 'fingerprint' | 'tokens_max' | 'query_prefix' | 'document_prefix' | 'tokens_per_minute'
> & { readonly dimensions: number };

export interface GuardedEmbedderOptions {
  readonly model: EmbeddedBy;
  readonly source: EmbeddingSource;
  readonly calls: GuardedCalls;
  readonly batchTexts: number;
}

/** Returns the version of the vectors that a model with these settings makes. */
function embeddingVersion(model: EmbeddedBy): string {
  const { provider, fingerprint, tokens_max, query_prefix, document_prefix, dimensions } = model;
  const decisive = [provider, fingerprint, dimensions, tokens_max, query_prefix, document_prefix];
  return createHash('sha256').update(JSON.stringify(decisive)).digest('hex').slice(0, VERSION_CHARACTERS);
}

export class GuardedEmbedder implements Embedder {
  readonly version: string;
  readonly dimensions: number;
  readonly batchTexts: number;

  constructor(private readonly options: GuardedEmbedderOptions) {
    this.version = embeddingVersion(options.model);
    this.dimensions = options.model.dimensions;
    this.batchTexts = options.batchTexts;
  }

  passages(texts: readonly TextToEmbed[], signal?: AbortSignal): Promise<readonly (readonly string[])[]> {
    return this.options.source.passages(texts, signal);
  }

  async embed(texts: readonly string[], purpose: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array[]> {
    const { query_prefix, document_prefix } = this.options.model;
    const prefix = purpose === 'query' ? query_prefix : document_prefix;
    const [only] = texts;
    if (only !== undefined && texts.length === 1) {
      // A search waits for it, so tokens are counted only if they are limited.
      const text = prefix + only;
      const tokens = this.options.model.tokens_per_minute === null ? 0 : estimateTokens(text);
      return this.#answered([text], tokens, { purpose, signal });
    }
    const vectors: Float32Array[] = [];
    for (const { batch, tokens } of this.#batches(texts.map((text) => prefix + text))) {
      vectors.push(...(await this.#answered(batch, tokens, { purpose, signal })));
    }
    return vectors;
  }

  #answered(batch: readonly string[], tokens: number, call: EmbeddingCall): Promise<Float32Array[]> {
    const { source, calls } = this.options;
    const expected = { count: batch.length, dimensions: this.dimensions };
    return calls.run(tokens, async () => checkedVectors(await source.embed(batch, call), expected), call.signal);
  }

  *#batches(texts: readonly string[]): Generator<{ batch: string[]; tokens: number }> {
    const tokensMax = Math.min(BATCH_TOKENS_MAX, this.options.model.tokens_per_minute ?? BATCH_TOKENS_MAX);
    let batch: string[] = [];
    let tokens = 0;
    for (const text of texts) {
      const more = estimateTokens(text);
      if (batch.length >= this.batchTexts || (batch.length > 0 && tokens + more > tokensMax)) {
        yield { batch, tokens };
        batch = [];
        tokens = 0;
      }
      batch.push(text);
      tokens += more;
    }
    if (batch.length > 0) yield { batch, tokens };
  }
}
