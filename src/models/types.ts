/** What a model is: something that the service can call, of an account. */
import type { Secret } from '../platform/index.js';
import type { DescribedPictures } from './embedder.js';

export const MODEL_KINDS = ['embedding', 'reranker', 'chat', 'transcription'] as const;
export type ModelKind = (typeof MODEL_KINDS)[number];

export interface ProviderRow {
  readonly described: string;
  /** What its models may do; where nobody says which, the first. */
  readonly kinds: readonly [ModelKind, ...ModelKind[]];
  /** Members of a model that it has to be told, and those that it may be. */
  readonly needed: readonly string[];
  readonly others: readonly string[];
}

/** Of models that read texts. */
export const OF_TEXTS = ['tokens_max', 'query_prefix', 'document_prefix'] as const;
const OF_SERVER = ['secret', 'requests_per_minute', 'tokens_per_minute'] as const;

/**
 * Who provides models. A new one is a row here, and one in `model-providers.ts`, which says how each of its kinds is asked; schemas, checks and the
 * forms of the console come from here.
 */
export const MODEL_PROVIDERS = {
  onnx: {
    described: 'a folder under `models.dir`',
    kinds: ['embedding', 'reranker'],
    needed: [],
    others: ['kind', 'folder', ...OF_TEXTS],
  },
  openai: {
    described: 'a server with `/v1/embeddings`, or, of the kind `chat`, `/v1/chat/completions`',
    kinds: ['embedding', 'chat', 'transcription'],
    needed: ['url', 'served_name'],
    others: ['kind', ...OF_SERVER, ...OF_TEXTS],
  },
  rerank: {
    described: 'a server with `/rerank`',
    kinds: ['reranker'],
    needed: ['url'],
    others: ['served_name', ...OF_SERVER],
  },
  own: { described: 'the caller sends vectors', kinds: ['embedding'], needed: ['dimensions'], others: [] },
} as const satisfies Readonly<Record<string, ProviderRow>>;
export type ModelProvider = keyof typeof MODEL_PROVIDERS;

/** Of a model of which nobody says how much it reads. */
export const TOKENS_MAX_DEFAULT = 512;

export type ModelInput = 'text' | 'image';

/** What may provide a model that is shown: nobody adds `built-in`, which every account has. */
export const SHOWN_PROVIDERS = ['built-in', ...(Object.keys(MODEL_PROVIDERS) as ModelProvider[])] as const;

/** No model of an account may have these names: they stand for what is there without being added. */
export const RESERVED_MODEL_NAMES: ReadonlySet<string> = new Set(['built-in', 'own']);

interface ModelOf<KeptSecret> {
  readonly account: string;
  readonly name: string;
  readonly kind: ModelKind;
  readonly provider: ModelProvider;
  readonly inputs: readonly ModelInput[];
  /** What it said of pictures; null where it reads none. */
  readonly pictures: DescribedPictures | null;
  /** Of its vectors; null where it makes none. */
  readonly dimensions: number | null;
  /** The longest text that it reads whole. */
  readonly tokens_max: number;
  /** Put before a search text and before a record's text. */
  readonly query_prefix: string;
  readonly document_prefix: string;
  /** Of `onnx`: the folder under `models.dir`. */
  readonly folder: string | null;
  /** Of `openai` and `rerank`: where the server is. */
  readonly url: string | null;
  /** Of `openai` and `rerank`: what the server calls the model. */
  readonly served_name: string | null;
  readonly requests_per_minute: number | null;
  readonly tokens_per_minute: number | null;
  /** What it said that it is when it was added. */
  readonly fingerprint: string;
  readonly secret: KeptSecret;
  readonly created_utc: string;
  readonly modified_utc: string;
}

/** `unreadable`: what is kept of the secret cannot be opened, and the model is unavailable until it has a new one. */
export type Model = ModelOf<Secret | null | 'unreadable'>;

/** As `data/system` keeps it, sealed. */
export type StoredModel = Omit<ModelOf<string | null>, 'folder' | 'pictures'> & {
  /** Not there in models that were added when there were none in folders. */
  readonly folder?: string | null;
  /** Not there in models that were added when none read pictures. */
  readonly pictures?: DescribedPictures | null;
};
