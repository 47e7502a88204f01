/**
 * Registry of the models that can be called, by account and name: the interface for the rest of the service. Main
 * thread only. Models are loaded and servers called on first use.
 */
import type { Catalog } from '../catalog/index.js';
import {
  checkOutboundUrl,
  namesInShort,
  OutboundRefusedError,
  serviceKey,
  ServiceError,
  type OutboundRules,
} from '../platform/index.js';
import { systemTimers, type Timers } from '../platform/work/index.js';
import {
  BUILT_IN_MODEL,
  OWN_MODEL,
  modelWithoutAdding,
  type AttachedModel,
  type Embedder,
  type ListModels,
  type ListOfModel,
  type PictureEmbedder,
  type Reranker,
  type SearchReranker,
} from '../vectors/index.js';
import { ChatModel } from './chat.js';
import { within } from './deadline.js';
import type { SourceDescription } from './embedder.js';
import { GuardedCalls } from './guarded-calls.js';
import { GuardedEmbedder } from './guarded-embedder.js';
import { GuardedPictureEmbedder } from './guarded-picture-embedder.js';
import { GuardedReranker } from './guarded-reranker.js';
import { asModelError } from './model-error.js';
import type { ModelSettings } from './model-settings.js';
import type { ModelChange, ModelStore, NewModel } from './model-store.js';
import { ModelProviders, type DescribedModel, type OnnxOptions } from './model-providers.js';
import { textsPerAnswer } from './remote-models.js';
import { QueryEmbeddings } from './query-embeddings.js';
import { GuardedTranscriber, transcriptionVersion, type Transcriber } from './transcription.js';
import { TOKENS_MAX_DEFAULT, type Model, type ModelInput } from './types.js';

/** List setting that names a transcription model. */
export const TRANSCRIPTION_MODEL = 'transcription_model';

/** Key by which operations and later features find the models. */
export const MODELS = serviceKey<Models>('models');

/** Part of the main thread's memory share: two thousand vectors of 384 numbers. */
const QUERY_CACHE_BYTES = 4 * 2 ** 20;
/** List setting that names the model for vectors of pictures. */
const PICTURES_MODEL_SETTING = 'image_model';
const UNREADABLE = 'Its secret cannot be opened: give it a new one with gannet model update.';
/** Large enough to keep all processes busy that share a batch; not larger, since a crash loses the batch. */
const FOLDER_BATCH_TEXTS = 64;
/** Factor on the answer's time limit: half is for the wait for the rate limit, half for the answer. */
const CHAT_WAIT_TIMES = 2;

export interface ModelState {
  readonly state: 'ready' | 'unavailable';
  readonly detail?: string;
}

export interface ModelsOptions {
  readonly store: ModelStore;
  readonly catalog: Pick<Catalog, 'lists' | 'groups'>;
  readonly settings: Pick<
    ModelSettings,
    | 'call_seconds'
    | 'chat_seconds'
    | 'transcription_seconds'
    | 'batch_texts'
    | 'query_ms'
    | 'reranker_top'
    | 'reranker_ms'
  >;
  readonly outbound: OutboundRules;
  readonly onnx: OnnxOptions;
  readonly timers?: Timers;
}

/** A model to be added. Null for values that the model itself may provide. */
export type AddedModel = Omit<NewModel, 'fingerprint' | 'inputs' | 'pictures' | Unsaid> &
  Readonly<{ [Member in Unsaid]: Model[Member] | null }>;
type Unsaid = 'tokens_max' | 'query_prefix' | 'document_prefix';

/** A model that was called at least once. */
interface Opened {
  readonly calls: GuardedCalls;
  readonly embedder?: Embedder;
  readonly pictures?: PictureEmbedder;
  readonly reranker?: Reranker;
  readonly chat?: ChatModel;
  readonly transcriber?: Transcriber;
}

export class Models implements ListModels {
  readonly queries: QueryEmbeddings;
  readonly #providers: ModelProviders;
  readonly #opened = new Map<Model, Opened>();
  readonly #listeners: ((account: string, name: string) => void)[] = [];

  constructor(private readonly options: ModelsOptions) {
    const { settings, outbound, onnx } = options;
    this.queries = new QueryEmbeddings({ bytesMax: QUERY_CACHE_BYTES });
    const { call_seconds, chat_seconds, transcription_seconds } = settings;
    this.#providers = new ModelProviders({
      callMs: call_seconds * 1000,
      chatMs: chat_seconds * 1000,
      transcriptionMs: transcription_seconds * 1000,
      outbound,
      onnx,
    });
  }

  /** Registers a listener that is called with account and name when a model was added, changed or deleted. */
  onChange(listener: (account: string, name: string) => void): void {
    this.#listeners.push(listener);
  }

  knows(account: string, name: string): boolean {
    if (modelWithoutAdding(name) !== undefined) return true;
    const { kind, inputs = [] } = this.options.store.get(account, name) ?? {};
    return kind === 'embedding' && inputs.includes('text');
  }

  names(account: string): readonly string[] {
    return [BUILT_IN_MODEL, OWN_MODEL, ...this.of(account).map(({ name }) => name)];
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

  /** Undefined if there is no such model, or it makes no vectors of texts. */
  embedder(account: string, name: string): Embedder | undefined {
    const model = this.options.store.get(account, name);
    return model === undefined ? undefined : this.#open(model).embedder;
  }

  pictures(account: string, name: string): PictureEmbedder | undefined {
    const model = this.options.store.get(account, name);
    return model === undefined ? undefined : this.#open(model).pictures;
  }

  /**
   * Returns the vector of a search text, or rejects after `query_ms`. The call continues for other waiting searches,
   * and its vector is cached.
   */
  embedQuery(embedder: Embedder, text: string): Promise<Float32Array> {
    return within(this.options.settings.query_ms, () => this.queries.vectorOf(embedder, text));
  }

  /** Undefined if there is no such model, or it is not for transcription. */
  transcriber(account: string, name: string): Transcriber | undefined {
    const model = this.options.store.get(account, name);
    return model === undefined ? undefined : this.#open(model).transcriber;
  }

  /** Undefined if there is no such model, or it is not a reranker. */
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

  /** Undefined if there is no such model, or it is not a chat model. */
  chat(account: string, name: string): ChatModel | undefined {
    const model = this.options.store.get(account, name);
    return model === undefined ? undefined : this.#open(model).chat;
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

  /** Returns the lists and groups that use the model. */
  usedBy(account: string, name: string): readonly string[] {
    return this.users(account)(name);
  }

  /**
   * Returns a function that finds the users of any model of an account. Reads the account's lists and groups, of which
   * there may be thousands, only once.
   */
  users(account: string): (name: string) => readonly string[] {
    const { catalog } = this.options;
    const users = new Map<string, string[]>();
    const add = (user: string, named: readonly unknown[]): void => {
      for (const name of new Set(named)) {
        if (typeof name !== 'string') continue;
        const known = users.get(name);
        if (known === undefined) users.set(name, [user]);
        else known.push(user);
      }
    };
    for (const { name, model, reranker, features } of catalog.lists(account)) {
      const others = [reranker, features?.[PICTURES_MODEL_SETTING], features?.[TRANSCRIPTION_MODEL]];
      // In these settings, the built-in model's name stands for other models than that of texts.
      add(name, [model, ...others.filter((other) => other !== BUILT_IN_MODEL)]);
    }
    for (const { name, reranker } of catalog.groups(account)) if (reranker !== BUILT_IN_MODEL) add(name, [reranker]);
    return (name) => users.get(name) ?? [];
  }

  state(model: Model): ModelState {
    if (model.secret === 'unreadable') {
      return { state: 'unavailable', detail: UNREADABLE };
    }
    const failure = this.#opened.get(model)?.calls.failure;
    return failure === undefined ? { state: 'ready' } : { state: 'unavailable', detail: failure.detail };
  }

  /**
   * Adds a model after a trial call, so that nothing is added that never worked. Rejects with `unprocessable`,
   * `name-exists` or `conflict`.
   */
  async add(model: AddedModel): Promise<Model> {
    const { query_prefix, document_prefix } = model;
    const description = await this.#probe({
      ...model,
      query_prefix: query_prefix ?? '',
      document_prefix: document_prefix ?? '',
    });
    const { tokensMax, queryPrefix, documentPrefix } = description;
    const added = await this.options.store.create({
      ...model,
      tokens_max: model.tokens_max ?? tokensMax ?? TOKENS_MAX_DEFAULT,
      query_prefix: query_prefix ?? queryPrefix ?? '',
      document_prefix: document_prefix ?? documentPrefix ?? '',
      ...described(model, description),
    });
    this.#announce(added);
    return added;
  }

  /** Changes a model after a trial call with the new settings. Rejects with `unprocessable` or `not-found`. */
  async change(account: string, name: string, change: ModelChange): Promise<Model> {
    const before = this.required(account, name);
    const next = { ...before, ...change };
    const description = await this.#probe(next);
    const changed = await this.options.store.update(account, name, { ...change, ...described(next, description) });
    this.#opened.delete(before);
    this.#announce(changed);
    return changed;
  }

  /** Rejects with `conflict` if lists or groups use the model, and with `not-found`. */
  async delete(account: string, name: string): Promise<void> {
    const model = this.required(account, name);
    await this.options.store.delete(account, name, () => {
      const users = this.usedBy(account, name);
      if (users.length === 0) return;
      throw new ServiceError(
        'conflict',
        `The model '${name}' is used by ${namesInShort(users)}: set another model there first.`,
      );
    });
    this.#opened.delete(model);
    this.#announce(model);
  }

  /** Deletes all models of a deleted account, and their clients, which hold the secrets. */
  async forget(account: string): Promise<void> {
    for (const model of await this.options.store.forget(account)) this.#opened.delete(model);
  }

  /** Makes a trial call. Resolves with dimensions and time. Rejects with `unprocessable`. */
  async test(account: string, name: string): Promise<{ dimensions: number | null; tookMs: number }> {
    const model = this.required(account, name);
    const begun = performance.now();
    const { dimensions, fingerprint } = await this.#probe(model);
    const tookMs = performance.now() - begun;
    if (model.dimensions !== null && dimensions !== model.dimensions) {
      throw new ServiceError(
        'unprocessable',
        `The model answers ${dimensions} dimensions, and had ${model.dimensions} when it was added: gannet model update takes it as it is now.`,
      );
    }
    if (fingerprint !== undefined && fingerprint !== model.fingerprint) {
      throw new ServiceError(
        'unprocessable',
        'The model is another one than when it was added: gannet model update takes it as it is now.',
      );
    }
    return { dimensions: model.dimensions, tookMs };
  }

  async close(): Promise<void> {
    this.#opened.clear();
    await this.#providers.close();
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
    const reranker = this.#providers.reranker(model);
    if (reranker !== undefined) return { calls, reranker: new GuardedReranker(reranker, calls) };
    const transcription = this.#providers.transcription(model);
    if (transcription !== undefined)
      return { calls, transcriber: new GuardedTranscriber(transcriptionVersion(model), transcription, calls) };
    const chat = this.#providers.chat(model);
    if (chat !== undefined) {
      const msMax = CHAT_WAIT_TIMES * settings.chat_seconds * 1000;
      return { calls, chat: new ChatModel(model.name, chat, calls, msMax) };
    }
    const { dimensions } = model;
    if (dimensions === null) return { calls };
    const source = this.#providers.source(model);
    const remoteTexts = Math.min(settings.batch_texts, textsPerAnswer(dimensions));
    const batchTexts = model.provider === 'onnx' ? FOLDER_BATCH_TEXTS : remoteTexts;
    const embedder = source && new GuardedEmbedder({ model: { ...model, dimensions }, source, calls, batchTexts });
    const ofPictures = this.#providers.pictures(model);
    const pictures =
      ofPictures && model.pictures !== null
        ? new GuardedPictureEmbedder({
            model: { ...model, dimensions },
            read: model.pictures,
            source: ofPictures,
            calls,
            embedder,
          })
        : undefined;
    return { calls, ...(embedder && { embedder }), ...(pictures && { pictures }) };
  }

  /** Makes a trial call. Rejects with `unprocessable` and the reason. */
  async #probe(model: DescribedModel): Promise<Partial<SourceDescription>> {
    this.#assertReachable(model);
    try {
      return await this.#providers.describe(model);
    } catch (error) {
      const { detail } = asModelError(error);
      throw new ServiceError('unprocessable', `The model '${model.name}' does not work: ${detail}`, { cause: error });
    }
  }

  #assertReachable({ url }: DescribedModel): void {
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
  { dimensions, fingerprint = '', readsTexts = true, pictures = null }: Partial<SourceDescription>,
): Pick<Model, 'dimensions' | 'fingerprint' | 'inputs' | 'pictures'> {
  const inputs: ModelInput[] = [
    ...(readsTexts ? (['text'] as const) : []),
    ...(pictures === null ? [] : (['image'] as const)),
  ];
  return { dimensions: dimensions ?? given.dimensions, fingerprint, inputs, pictures };
}
