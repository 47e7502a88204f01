/** Reranker behind its rate limit and its circuit breaker. */
import type { Reranker } from '../vectors/index.js';
import type { GuardedCalls } from './guarded-calls.js';
import { estimateTokens } from './passages.js';

export class GuardedReranker implements Reranker {
  constructor(
    private readonly reranker: Reranker,
    private readonly calls: GuardedCalls,
  ) {}

  rerank(query: string, documents: readonly string[], signal?: AbortSignal): Promise<readonly number[]> {
    const tokens = documents.reduce((sum, document) => sum + estimateTokens(document), estimateTokens(query));
    return this.calls.run(tokens, () => this.reranker.rerank(query, documents, signal), signal);
  }
}
