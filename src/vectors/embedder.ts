/** Models that embed texts, as lists see them. The models themselves are in `src/models`. */

export interface TextToEmbed {
  /** Precedes the text in each passage. */
  readonly title: string;
  readonly text: string;
}

export interface Embedder {
  /** Vectors of different versions cannot be compared. */
  readonly version: string;
  readonly dimensions: number;
  /** Best number of texts for one call. */
  readonly batchTexts: number;
  /**
   * Returns the passages of each text: at most as many tokens as the model takes, cut at ends of sentences, each
   * beginning with the title.
   */
  passages(texts: readonly TextToEmbed[], signal?: AbortSignal): Promise<readonly (readonly string[])[]>;
  /** Returns a vector of length 1 for each text. Rejects with a `ModelError`. */
  embed(texts: readonly string[], purpose: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array[]>;
}

/** What the name of a model refers to when a list is to use it. */
export type AttachedModel =
  | { readonly source: 'own'; readonly dimensions: number | null }
  | { readonly source: 'embedder'; readonly embedder: Embedder }
  /** Learned from the list's own records. */
  | { readonly source: 'built-in' }
  /** Known, but not usable now. */
  | { readonly source: 'unavailable'; readonly detail: string };

export interface ListOfModel {
  readonly account: string;
  /** Id of the list. */
  readonly id: string;
  readonly model: string;
}

/** A model that orders texts by their relevance to a query. */
export interface Reranker {
  /**
   * Returns a relevance for each document, the higher the better, on no particular scale. Rejects with a `ModelError`.
   */
  rerank(query: string, documents: readonly string[], signal?: AbortSignal): Promise<readonly number[]>;
}

/** A reranker as searches use it. */
export interface SearchReranker {
  /** Changes if the order may change. */
  readonly version: string;
  /** Number of the best hits that are reordered. */
  readonly top: number;
  /** As `Reranker.rerank`; also rejects if it takes longer than a search waits for it. */
  readonly rerank: (query: string, documents: readonly string[], signal?: AbortSignal) => Promise<readonly number[]>;
}

/** Reason why a model returned no vectors. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  /** `later`: the texts are not at fault. `never`: the texts cannot be embedded. */
  readonly retry: 'later' | 'never';
  readonly retryAfterMs: number | undefined;
  /** One of a small set of reasons, by which failures are counted. */
  readonly reason: string;

  constructor(
    detail: string,
    options: {
      readonly retry: 'later' | 'never';
      readonly reason: string;
      readonly retryAfterMs?: number;
      readonly cause?: unknown;
    },
  ) {
    super(detail, { cause: options.cause });
    this.retry = options.retry;
    this.reason = options.reason;
    this.retryAfterMs = options.retryAfterMs;
  }
}
