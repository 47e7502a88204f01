/** Types of models: what an account can have the service call. */
import type { Secret } from '../platform/index.js';
import type { DescribedPictures } from './embedder.js';

export const MODEL_KINDS = ['embedding', 'reranker', 'chat', 'transcription'] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

export interface ProviderRow {
  readonly described: string;
  /** Kinds of models it provides; the first is the default. */
  readonly kinds: readonly [ModelKind, ...ModelKind[]];
  /** Settings that a model requires, and those that are optional. */
  readonly needed: readonly string[];
  readonly others: readonly string[];
}

/** Settings of models that read texts. */
export const OF_TEXTS = ['tokens_max', 'query_prefix', 'document_prefix'] as const;
const OF_SERVER = ['secret', 'requests_per_minute', 'tokens_per_minute'] as const;

/**
 * Providers of models. A new provider is a row here and one in `model-providers.ts`, which says how each kind is
 * called. Schemas, checks and the console's forms derive from these rows.
 */
export const MODEL_PROVIDERS = {
  onnx: {
    described: 'an ONNX model in a folder of `models.dir`',
    kinds: ['embedding', 'reranker'],
    needed: [],
    others: ['kind', 'folder', ...OF_TEXTS],
  },
  openai: {
    described:
      'a server that has `/v1/embeddings` or, for the kind `chat`, `/v1/chat/completions` or, for the kind `transcription`, `/v1/audio/transcriptions`',
    kinds: ['embedding', 'chat', 'transcription'],
    needed: ['url', 'served_name'],
    others: ['kind', ...OF_SERVER, ...OF_TEXTS],
  },
  rerank: {
    described: 'a server that has `/rerank`',
    kinds: ['reranker'],
    needed: ['url'],
    others: ['served_name', ...OF_SERVER],
  },
  own: {
    described: 'no model: clients write vectors with the records, and send them with searches',
    kinds: ['embedding'],
    needed: ['dimensions'],
    others: [],
  },
} as const satisfies Readonly<Record<string, ProviderRow>>;
export type ModelProvider = keyof typeof MODEL_PROVIDERS;

/** Default if nothing states how much a model reads. */
export const TOKENS_MAX_DEFAULT = 512;

export type ModelInput = 'text' | 'image';

/** Providers of models shown in answers. `built-in` cannot be added; every account has it. */
export const SHOWN_PROVIDERS = ['built-in', ...(Object.keys(MODEL_PROVIDERS) as ModelProvider[])] as const;

/** Names that no model of an account may have: they stand for models that exist without being added. */
export const RESERVED_MODEL_NAMES: ReadonlySet<string> = new Set(['built-in', 'own']);

interface ModelOf<KeptSecret> {
  readonly account: string;
  readonly name: string;
  readonly kind: ModelKind;
  readonly provider: ModelProvider;
  readonly inputs: readonly ModelInput[];
  /** What the model said of pictures. Null if it reads none. */
  readonly pictures: DescribedPictures | null;
  /** Dimensions of its vectors. Null if it makes none. */
  readonly dimensions: number | null;
  /** Length in tokens of the longest text that it reads whole. */
  readonly tokens_max: number;
  /** Prefixes of search texts and of records' texts. */
  readonly query_prefix: string;
  readonly document_prefix: string;
  /** For `onnx`: the folder under `models.dir`. */
  readonly folder: string | null;
  /** For `openai` and `rerank`: the server's URL. */
  readonly url: string | null;
  /** For `openai` and `rerank`: the server's name for the model. */
  readonly served_name: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  /** What the model identified itself as when it was added. */
  readonly fingerprint: string;
  readonly secret: KeptSecret;
  readonly created_utc: string;
  readonly modified_utc: string;
}

/** The secret is `unreadable` if it cannot be decrypted; the model is then unavailable until it gets a new one. */
export type Model = ModelOf<Secret | null | 'unreadable'>;

/** The model as stored in `data/system`, with a sealed secret. */
export type StoredModel = Omit<ModelOf<string | null>, 'folder' | 'pictures'> & {
  /** Undefined for models added by releases without models in folders. */
  readonly folder?: string | null;
  /** Undefined for models added by releases without models of pictures. */
  readonly pictures?: DescribedPictures | null;
};
