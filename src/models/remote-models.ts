/** Models behind a server: OpenAI's `/v1/embeddings`, and `/rerank` of Cohere, Jina and TEI. */
import { VECTOR_DIMENSIONS_MAX } from '../records/index.js';
import { checkedRelevances, checkedVectors, described, memberOf } from './checked-answers.js';
import type { Reranker, TextToEmbed } from '../vectors/index.js';
import type { EmbeddingCall, EmbeddingSource, SourceDescription } from './embedder.js';
import { ANSWER_BYTES_MAX, type AnswerBounds, type JsonService } from './json-service.js';
import { ModelError } from './model-error.js';
import { cutPassages, estimateTokens } from './passages.js';
import { TOKENS_MAX_DEFAULT } from './types.js';

/** Text sent to find out how a model answers. */
const PROBE = 'gannet';
/**
 * Allowed commas of an answer besides the numbers of vectors: per vector for its index and kind, and for the usage of
 * the call.
 */
const COMMAS_OF_VECTOR_MAX = 20;
const COMMAS_BESIDE_MAX = 1000;
/** Bytes of one number, on a line of its own if the server formats so. */
const NUMBER_BYTES_MAX = 40;
/** Bytes of a reranker's result for one document, without its text. */
const RESULT_BYTES_MAX = 1024;
const RESULT_COMMAS_MAX = 20;
/** Bytes of a character that a server repeats as an escape sequence. */
const REPEATED_BYTES_MAX = 6;
const BYTES_BESIDE_MAX = 131_072;

/**
 * Returns how many texts may be sent at once, so that their vectors fit into an answer of ANSWER_BYTES_MAX, however the
 * server formats it.
 */
export function textsPerAnswer(dimensions: number): number {
  const vectorBytes = (dimensions + COMMAS_OF_VECTOR_MAX) * NUMBER_BYTES_MAX;
  return Math.floor((ANSWER_BYTES_MAX - BYTES_BESIDE_MAX) / vectorBytes);
}

export type Endpoint = '/v1/embeddings' | '/v1/chat/completions' | '/v1/audio/transcriptions' | '/rerank';

/**
 * Returns the URL of the server's function for any part of the address that was given: the host, `/v1`, or all of it.
 */
export function endpointOf(url: string, path: Endpoint): string {
  const base = url.replace(/\/+$/, '');
  const own = path.replace(/^\/v1/, '');
  if (base.endsWith(own)) return base;
  return base.endsWith('/v1') ? base + own : base + path;
}

export interface RemoteModel {
  readonly served_name: string | null;
  /** Null for the default that most models can read. */
  readonly tokens_max: number | null;
}

export class OpenAiEmbeddings implements EmbeddingSource {
  constructor(
    private readonly service: JsonService,
    private readonly model: RemoteModel,
    private readonly url: string,
  ) {}

  /** Describes the model by a trial call. Rejects with a ModelError if that fails. */
  async describe(signal?: AbortSignal): Promise<SourceDescription> {
    const vectors = await this.embed([PROBE], { signal });
    const [vector] = vectors;
    if (!Array.isArray(vector) || vector.length === 0) {
      throw new ModelError('The server answered no vector.', { retry: 'later' });
    }
    if (vector.length > VECTOR_DIMENSIONS_MAX) {
      const detail = `The server answered a vector of ${vector.length} dimensions; at most ${VECTOR_DIMENSIONS_MAX} are taken.`;
      throw new ModelError(detail, { retry: 'later' });
    }
    checkedVectors(vectors, { count: 1, dimensions: vector.length });
    return { dimensions: vector.length, fingerprint: `${this.url} ${this.model.served_name ?? ''}` };
  }

  passages(texts: readonly TextToEmbed[]): Promise<readonly (readonly string[])[]> {
    return Promise.resolve(
      texts.map((text) => cutPassages(text, this.model.tokens_max ?? TOKENS_MAX_DEFAULT, estimateTokens)),
    );
  }

  async embed(texts: readonly string[], { signal }: Pick<EmbeddingCall, 'signal'>): Promise<readonly unknown[]> {
    const body = { model: this.model.served_name ?? '', input: texts, encoding_format: 'float' };
    const numbers = texts.length * (VECTOR_DIMENSIONS_MAX + COMMAS_OF_VECTOR_MAX);
    const bounds = {
      commasMax: COMMAS_BESIDE_MAX + numbers,
      bytesMax: BYTES_BESIDE_MAX + numbers * NUMBER_BYTES_MAX,
    };
    const data = memberOf(await this.service.post(body, signal, bounds), 'data');
    if (!Array.isArray(data)) throw new ModelError('The server answered no vectors (data).', { retry: 'later' });
    // Ordered by index if the server names it, since it may answer in any order.
    const vectors = new Array<unknown>(data.length).fill(undefined);
    for (const [position, each] of data.entries()) {
      const index = memberOf(each, 'index') ?? position;
      if (!Number.isInteger(index) || (index as number) < 0 || (index as number) >= data.length) {
        throw new ModelError(
          `The server answered a vector of text ${described(index)}, and there are ${data.length}.`,
          {
            retry: 'later',
          },
        );
      }
      vectors[index as number] = memberOf(each, 'embedding');
    }
    return vectors;
  }
}

export class RerankService implements Reranker {
  /** Cohere and Jina call them documents, TEI texts. The first call shows which one the server knows. */
  #member: 'documents' | 'texts' = 'documents';

  constructor(
    private readonly service: JsonService,
    private readonly model: Pick<RemoteModel, 'served_name'>,
  ) {}

  async rerank(query: string, documents: readonly string[], signal?: AbortSignal): Promise<readonly number[]> {
    const answer = await this.#asked(query, documents, signal);
    const results = Array.isArray(answer) ? answer : memberOf(answer, 'results');
    if (!Array.isArray(results)) throw new ModelError('The server answered no results.', { retry: 'later' });
    const relevances = results.map((each: unknown) => ({
      index: memberOf(each, 'index'),
      relevance: memberOf(each, 'relevance_score') ?? memberOf(each, 'score'),
    }));
    return checkedRelevances(relevances, documents.length);
  }

  async #asked(query: string, documents: readonly string[], signal?: AbortSignal): Promise<unknown> {
    const { served_name: name } = this.model;
    const bodyWith = (member: string) => ({ ...(name === null ? {} : { model: name }), query, [member]: documents });
    const bounds = boundsOf(query, documents);
    try {
      return await this.service.post(bodyWith(this.#member), signal, bounds);
    } catch (error) {
      if (!(error instanceof ModelError) || error.retry !== 'never') throw error;
      const other = this.#member === 'documents' ? 'texts' : 'documents';
      const answer = await this.service.post(bodyWith(other), signal, bounds);
      this.#member = other;
      return answer;
    }
  }
}

/** Returns the limits of a reranker's answer. Some servers repeat what they were sent, commas included. */
function boundsOf(query: string, documents: readonly string[]): AnswerBounds {
  const characters = documents.reduce((sum, document) => sum + document.length, query.length);
  return {
    commasMax: COMMAS_BESIDE_MAX + documents.length * RESULT_COMMAS_MAX + characters,
    bytesMax: BYTES_BESIDE_MAX + documents.length * RESULT_BYTES_MAX + characters * REPEATED_BYTES_MAX,
  };
}
