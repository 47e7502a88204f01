/**
 * The models that can be asked, by their names: what the rest of the service sees of them. Main thread only. Nothing is loaded, and no
 * server is called, before somebody asks.
 */
import type { Catalog, ListRecord } from '../catalog/index.js';
import { OutboundClient } from '../platform/outbound/outbound-client.js';
import {
  checkOutboundUrl,
  OutboundRefusedError,
  serviceKey,
  ServiceError,
  type OutboundRules,
} from '../platform/index.js';
import { systemTimers, type Timers } from '../platform/work/index.js';
import {
  modelWithoutAdding,
  type AttachedModel,
  type Embedder,
  type ListModels,
  type ListOfModel,
  type Reranker,
  type SearchReranker,
} from '../vectors/index.js';
import { within } from './deadline.js';
import type { EmbeddingSource, SourceDescription } from './embedder.js';
import { GuardedCalls } from './guarded-calls.js';
import { GuardedEmbedder } from './guarded-embedder.js';
import { GuardedReranker } from './guarded-reranker.js';
import { JsonService } from './json-service.js';
import { asModelError } from './model-error.js';
import type { ModelSettings } from './model-settings.js';
import type { ModelChange, ModelStore, NewModel } from './model-store.js';
import { QueryEmbeddings } from './query-embeddings.js';
import { endpointOf, OpenAiEmbeddings, RerankService } from './remote-models.js';
import type { Model } from './types.js';

/** Under which operations and later features find models. */
export const MODELS = serviceKey<Models>('models');

/** Of the main thread's share of the memory: two thousand vectors of 384 numbers. */
const QUERY_CACHE_BYTES = 4 * 2 ** 20;
const UNREADABLE = 'Its secret cannot be opened: give it a new one with gannet model update.';
const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;
const CONNECTIONS_PER_HOST_MAX = 8;
const CONNECTIONS_MAX = 64;
const WAITING_MAX = 1024;
/** An answer of 256 vectors of 4,096 numbers, each of 20 characters, and as much again. */
const ANSWER_BYTES_MAX = 64 * 2 ** 20;
/** What a reranker is asked to find out whether it answers. */
const PROBE_DOCUMENTS = ['A gannet dives into the sea.', 'Interest rates rose.'];

export interface ModelState {
  readonly state: 'ready' | 'unavailable';
  readonly detail?: string;
}

export interface ModelsOptions {
  readonly store: ModelStore;
  readonly catalog: Pick<Catalog, 'lists' | 'groups'>;
  readonly settings: Pick<ModelSettings, 'call_seconds' | 'batch_texts' | 'query_ms' | 'reranker_top' | 'reranker_ms'>;
  readonly outbound: OutboundRules;
  readonly timers?: Timers;
}

/** A model that was asked at least once. */
interface Opened {
  readonly calls: GuardedCalls;
  readonly source?: EmbeddingSource;
  readonly embedder?: Embedder;
  readonly reranker?: Reranker;
}

export class Models implements ListModels {
  readonly queries: QueryEmbeddings;
  readonly #client: OutboundClient;
  readonly #opened = new Map<Model, Opened>();
  readonly #listeners: ((account: string, name: string) => void)[] = [];

  constructor(private readonly options: ModelsOptions) {
    const { settings, outbound } = options;
    const callMs = settings.call_seconds * 1000;
    this.queries = new QueryEmbeddings({ bytesMax: QUERY_CACHE_BYTES });
    this.#client = new OutboundClient({
      rules: outbound,
      userAgent: 'Gannet-Models',
      limits: {
        headersMs: callMs,
        idleMs: callMs,
        totalMs: callMs,
        wireBytesMax: ANSWER_BYTES_MAX,
        bytesMax: ANSWER_BYTES_MAX,
      },
      connectMs: Math.min(CONNECT_MS, callMs),
      keepAliveMs: KEEP_ALIVE_MS,
      connectionsPerHostMax: CONNECTIONS_PER_HOST_MAX,
      connectionsMax: CONNECTIONS_MAX,
      waitingMax: WAITING_MAX,
    });
  }

  /** Called with account and name when a model was added, changed or deleted. */
  onChange(listener: (account: string, name: string) => void): void {
    this.#listeners.push(listener);
  }

  knows(account: string, name: string): boolean {
    return modelWithoutAdding(name) !== undefined || this.options.store.get(account, name)?.kind === 'embedding';
  }

  attached({ account, model: name }: Pick<ListOfModel, 'account' | 'model'>): AttachedModel | undefined {
    const model = this.options.store.get(account, name);
    if (model === undefined) return modelWithoutAdding(name);
    if (model.kind !== 'embedding') return undefined;
    if (model.provider === 'own') return { source: 'own', dimensions: model.dimensions };
    if (model.secret === 'unreadable') return { source: 'unavailable', detail: UNREADABLE };
    const { embedder } = this.#open(model);
    return embedder === undefined ? undefined : { source: 'embedder', embedder };
  }

  /** Undefined: there is no such model, or it makes no vectors of texts. */
  embedder(account: string, name: string): Embedder | undefined {
    const model = this.options.store.get(account, name);
    return model === undefined ? undefined : this.#open(model).embedder;
  }

  /** Whoever else wants the vector of the same text goes on waiting for it, and it is kept when it comes. */
  embedQuery(embedder: Embedder, text: string): Promise<Float32Array> {
    return within(this.options.settings.query_ms, () => this.queries.vectorOf(embedder, text));
  }

  /** Undefined: there is no such model, or it is no reranker. */
  reranker(account: string, name: string): SearchReranker | undefined {
    const model = this.options.store.get(account, name);
    const reranker = model === undefined ? undefined : this.#open(model).reranker;
    if (model === undefined || reranker === undefined) return undefined;
    const { reranker_top: top, reranker_ms: milliseconds } = this.options.settings;
    return {
      version: model.modified_utc,
      top,
      rerank: (query, documents, signal) =>
        within(milliseconds, (until) => reranker.rerank(query, documents, until), signal),
    };
  }

  of(account: string): readonly Model[] {
    return this.options.store.of(account);
  }

  get(account: string, name: string): Model | undefined {
    return this.options.store.get(account, name);
  }

  /** Throws `not-found`. */
  required(account: string, name: string): Model {
    return this.options.store.required(account, name);
  }

  /** Lists and groups that name it. */
  usedBy(account: string, name: string): readonly string[] {
    const { catalog } = this.options;
    const uses = ({ model, reranker }: Pick<ListRecord, 'model' | 'reranker'>) => model === name || reranker === name;
    const lists = catalog.lists(account).filter(uses);
    const groups = catalog.groups(account).filter(({ reranker }) => reranker === name);
    return [...lists, ...groups].map((each) => each.name);
  }

  state(model: Model): ModelState {
    if (model.secret === 'unreadable') {
      return { state: 'unavailable', detail: UNREADABLE };
    }
    const failure = this.#opened.get(model)?.calls.failure;
    return failure === undefined ? { state: 'ready' } : { state: 'unavailable', detail: failure.detail };
  }

  /** Asks it once, so that nothing is added that never worked. Rejects with `unprocessable`, `name-exists` or `conflict`. */
  async add(model: Omit<NewModel, 'fingerprint'>): Promise<Model> {
    const description = await this.#probe({ ...model, fingerprint: '', created_utc: '', modified_utc: '' });
    const added = await this.options.store.create({ ...model, ...described(model, description) });
    this.#announce(added);
    return added;
  }

  /** Asks it once, as it will be. Rejects with `unprocessable` or `not-found`. */
  async change(account: string, name: string, change: ModelChange): Promise<Model> {
    const before = this.required(account, name);
    const next = { ...before, ...change };
    const description = await this.#probe(next);
    const changed = await this.options.store.update(account, name, { ...change, ...described(next, description) });
    await this.#close(before);
    this.#announce(changed);
    return changed;
  }

  /** Rejects with `conflict` where lists or groups use it, and with `not-found`. */
  async delete(account: string, name: string): Promise<void> {
    const model = this.required(account, name);
    await this.options.store.delete(account, name, () => {
      const users = this.usedBy(account, name);
      if (users.length === 0) return;
      throw new ServiceError(
        'conflict',
        `The model '${name}' is used by ${users.join(', ')}: take it off there first.`,
      );
    });
    await this.#close(model);
    this.#announce(model);
  }

  /** Asks it something; resolves with what it took. Rejects with `unprocessable`. */
  async test(account: string, name: string): Promise<{ dimensions: number | null; tookMs: number }> {
    const model = this.required(account, name);
    const begun = performance.now();
    const { dimensions } = await this.#probe(model);
    const tookMs = performance.now() - begun;
    if (model.dimensions !== null && dimensions !== model.dimensions) {
      throw new ServiceError(
        'unprocessable',
        `The model answers ${dimensions} dimensions, and had ${model.dimensions} when it was added: gannet model update takes it as it is now.`,
      );
    }
    return { dimensions: model.dimensions, tookMs };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#opened.keys()].map((model) => this.#close(model)));
    await this.#client.close();
  }

  #announce({ account, name }: Model): void {
    for (const listener of this.#listeners) listener(account, name);
  }

  #open(model: Model): Opened {
    const known = this.#opened.get(model);
    if (known !== undefined) return known;
    const opened = this.#made(model);
    this.#opened.set(model, opened);
    return opened;
  }

  #made(model: Model): Opened {
    const { settings, timers = systemTimers } = this.options;
    const calls = new GuardedCalls(
      { requestsPerMinute: model.requests_per_minute, tokensPerMinute: model.tokens_per_minute },
      timers,
    );
    if (model.provider === 'rerank') {
      return { calls, reranker: new GuardedReranker(new RerankService(this.#service(model), model), calls) };
    }
    const source = this.#source(model);
    if (source === undefined || model.dimensions === null) return { calls };
    const { batch_texts: batchTexts } = settings;
    const embedder = new GuardedEmbedder({
      model: { ...model, dimensions: model.dimensions },
      source,
      calls,
      batchTexts,
    });
    return { calls, source, embedder };
  }

  #source(model: Model): EmbeddingSource | undefined {
    if (model.kind !== 'embedding') return undefined;
    return model.provider === 'openai' ? new OpenAiEmbeddings(this.#service(model), model, model.url ?? '') : undefined;
  }

  #service({ provider, url, secret }: Model): JsonService {
    const path = provider === 'rerank' ? '/rerank' : '/v1/embeddings';
    return new JsonService({ client: this.#client, url: endpointOf(url ?? '', path), secret });
  }

  async #close(model: Model): Promise<void> {
    const opened = this.#opened.get(model);
    this.#opened.delete(model);
    await opened?.source?.close();
  }

  /** Rejects with `unprocessable`, which says why it did not answer. */
  async #probe(model: Model): Promise<Partial<SourceDescription>> {
    this.#assertReachable(model);
    const source = this.#source(model);
    try {
      if (source !== undefined) return await source.describe();
      if (model.provider === 'rerank') {
        await new RerankService(this.#service(model), model).rerank('gannet', PROBE_DOCUMENTS);
      }
      return {};
    } catch (error) {
      const { detail } = asModelError(error);
      throw new ServiceError('unprocessable', `The model '${model.name}' does not work: ${detail}`, { cause: error });
    } finally {
      await source?.close();
    }
  }

  #assertReachable({ url }: Model): void {
    if (url === null) return;
    try {
      checkOutboundUrl(url, this.options.outbound);
    } catch (error) {
      if (!(error instanceof OutboundRefusedError)) throw error;
      throw new ServiceError('invalid-parameter', error.message, {
        errors: [{ pointer: '/url', detail: error.message }],
      });
    }
  }
}

function described(
  given: Pick<Model, 'dimensions'>,
  { dimensions, fingerprint = '' }: Partial<SourceDescription>,
): Pick<Model, 'dimensions' | 'fingerprint'> {
  return { dimensions: dimensions ?? given.dimensions, fingerprint };
}
