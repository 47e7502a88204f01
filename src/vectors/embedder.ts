/** What turns texts into vectors, as lists see it. The models themselves are `src/models`. */

export interface TextToEmbed {
  /** What stands first in each passage. */
  readonly title: string;
  readonly text: string;
}

export interface Embedder {
  /** Vectors of different versions cannot be compared. */
  readonly version: string;
  readonly dimensions: number;
  /** Texts that one call is best given. */
  readonly batchTexts: number;
  /** For each text its passages: at most as many tokens as the model takes, cut at ends of sentences, each beginning with the title. */
  passages(texts: readonly TextToEmbed[], signal?: AbortSignal): Promise<readonly (readonly string[])[]>;
  /** A vector of length 1 for each text. Rejects with a `ModelError`. */
  embed(texts: readonly string[], purpose: 'document' | 'query', signal?: AbortSignal): Promise<Float32Array[]>;
}

/** What the name of a model stands for where a list is to use it. */
export type AttachedModel =
  | { readonly source: 'own'; readonly dimensions: number | null }
  | { readonly source: 'embedder'; readonly embedder: Embedder }
  /** It is learned from the list's own records. */
  | { readonly source: 'built-in' }
  /** It is known and cannot be used now. */
  | { readonly source: 'unavailable'; readonly detail: string };

export interface ListOfModel {
  readonly account: string;
  /** Id of the list. */
  readonly id: string;
  readonly model: string;
}

/** What puts texts in an order for a query. */
export interface Reranker {
  /** A relevance of each document, the higher the better; of no scale. Rejects with a `ModelError`. */
  rerank(query: string, documents: readonly string[], signal?: AbortSignal): Promise<readonly number[]>;
}

/** A reranker as searches use it. */
export interface SearchReranker {
  /** Another one where its order may be another one. */
  readonly version: string;
  /** So many of the best hits are put in its order. */
  readonly top: number;
  /** As `Reranker.rerank`; also rejects where it takes longer than a search waits for it. */
  readonly rerank: (query: string, documents: readonly string[], signal?: AbortSignal) => Promise<readonly number[]>;
}

/** Why a model gave no vectors. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  /** `later`: nothing is wrong with the texts. `never`: they cannot be embedded. */
  readonly retry: 'later' | 'never';
  readonly retryAfterMs: number | undefined;
  /** A few words of a small set, by which failures are counted. */
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
