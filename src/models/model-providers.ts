/** Creates the client of each model by its provider, and describes a model before it is added. Main thread only. */
import { join } from 'node:path';
import { OutboundClient } from '../platform/outbound/outbound-client.js';
import type { OutboundRules } from '../platform/index.js';
import type { Reranker } from '../vectors/index.js';
import type { EmbeddingSource, SourceDescription } from './embedder.js';
import { ANSWER_BYTES_MAX, JsonService } from './json-service.js';
import { ModelError } from './model-error.js';
import { describeOnnx, OnnxEmbeddings, OnnxPictures, OnnxReranker, type OnnxModelOptions } from './onnx/onnx-models.js';
import { OnnxProcesses, type OnnxProcessesOptions } from './onnx/onnx-processes.js';
import { CHAT_ANSWER_BYTES_MAX, OpenAiChat, type ChatSource } from './chat.js';
import { endpointOf, OpenAiEmbeddings, RerankService, type Endpoint } from './remote-models.js';
import { OpenAiTranscription, TRANSCRIPT_BYTES_MAX, type TranscriptionSource } from './transcription.js';
import type { Model, ModelKind, ModelProvider, MODEL_PROVIDERS } from './types.js';

const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;
const CONNECTIONS_PER_HOST_MAX = 8;
const CONNECTIONS_MAX = 64;
const WAITING_MAX = 1024;
/** Documents sent to a reranker to find out whether it answers. */
const PROBE_DOCUMENTS = ['A gannet dives into the sea.', 'Interest rates rose.'];
/** Sound sent to a transcription model to find out whether it answers: a second of silence. */
const PROBE_SOUND = { bytes: silence(), fileName: 'silence.wav', mimeType: 'audio/wav' };
/** Message sent to a chat model to find out whether it answers. */
const PROBE_MESSAGE = { role: 'user', content: 'Answer with the word gannet.' } as const;
const PROBE_TOKENS_MAX = 64;

export interface OnnxOptions extends Omit<OnnxProcessesOptions, 'callMs'> {
  /** Absolute path of the directory with the models' folders. */
  readonly folders: string;
}

export interface ModelProvidersOptions {
  readonly callMs: number;
  /** Like `callMs`, for chat models. */
  readonly chatMs: number;
  /** Like `callMs`, for transcription models. */
  readonly transcriptionMs: number;
  readonly outbound: OutboundRules;
  readonly onnx: OnnxOptions;
}

/** A model before it is added. `tokens_max` is null if not given. */
export type DescribedModel = Omit<
  Model,
  'fingerprint' | 'created_utc' | 'modified_utc' | 'tokens_max' | 'inputs' | 'pictures'
> & {
  readonly tokens_max: number | null;
};

/** `fingerprint` is set for a model that was added. */
type AskedModel = DescribedModel & Partial<Pick<Model, 'fingerprint'>>;

/** How a provider's models of one kind are opened and described. */
interface Way<Source> {
  open(model: AskedModel): Source;
  /** Asks the model what it is, before it is added. Rejects with a ModelError if it does not work. */
  describe(model: AskedModel): Promise<Partial<SourceDescription>>;
}

interface Ways {
  /** Undefined if clients provide the vectors with their records. */
  readonly embedding: Way<EmbeddingSource | undefined>;
  readonly reranker: Way<Reranker>;
  readonly chat: Way<ChatSource>;
  readonly transcription: Way<TranscriptionSource>;
}

/** One per kind in the provider's row of `MODEL_PROVIDERS`. */
type ProviderWays = {
  readonly [Provider in ModelProvider]: Pick<Ways, (typeof MODEL_PROVIDERS)[Provider]['kinds'][number]>;
};

export class ModelProviders {
  readonly #ways: ProviderWays = {
    onnx: {
      embedding: {
        open: (model) => new OnnxEmbeddings(this.#folderOf(model)),
        describe: (model) => describeOnnx(this.#folderOf(model), 'embedding'),
      },
      reranker: {
        open: (model) => new OnnxReranker(this.#folderOf(model)),
        describe: (model) => describeOnnx(this.#folderOf(model), 'reranker'),
      },
    },
    openai: {
      embedding: {
        open: (model) => this.#openAi(model),
        describe: (model) => this.#openAi(model).describe(),
      },
      chat: asked(
        (model) => this.#openAiChat(model),
        (chat) => chat.write({ messages: [PROBE_MESSAGE], tokensMax: PROBE_TOKENS_MAX }),
      ),
      transcription: asked(
        (model) => this.#openAiTranscription(model),
        (transcription) => transcription.transcribe(PROBE_SOUND),
      ),
    },
    rerank: {
      reranker: asked(
        (model) => this.#rerankService(model),
        (reranker) => reranker.rerank('gannet', PROBE_DOCUMENTS),
      ),
    },
    own: { embedding: { open: () => undefined, describe: () => Promise.resolve({}) } },
  };
  readonly #client: OutboundClient;
  readonly #processes: OnnxProcesses;

  constructor(private readonly options: ModelProvidersOptions) {
    const { callMs, outbound, onnx } = options;
    this.#processes = new OnnxProcesses({ ...onnx, callMs });
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

  /** Undefined for a model that does not make vectors of texts here. */
  source(model: Model): EmbeddingSource | undefined {
    return model.inputs.includes('text') ? this.#way('embedding', model)?.open(model) : undefined;
  }

  /** Undefined for a model that reads no pictures. */
  pictures(model: Model): OnnxPictures | undefined {
    const reads = model.provider === 'onnx' && model.pictures !== null;
    return reads ? new OnnxPictures(this.#folderOf(model)) : undefined;
  }

  /** Undefined for a model that is not a reranker. */
  reranker(model: Model): Reranker | undefined {
    return this.#way('reranker', model)?.open(model);
  }

  /** Undefined for a model that is not a chat model. */
  chat(model: AskedModel): ChatSource | undefined {
    return this.#way('chat', model)?.open(model);
  }

  /** Undefined for a model that is not for transcription. */
  transcription(model: AskedModel): TranscriptionSource | undefined {
    return this.#way('transcription', model)?.open(model);
  }

  /** Asks the model what it is. Rejects with a ModelError if it does not work. */
  async describe(model: DescribedModel): Promise<Partial<SourceDescription>> {
    const way = this.#way(model.kind, model);
    if (way === undefined)
      throw new ModelError(`This release knows no ${model.kind} model of the provider '${model.provider}'.`, {
        retry: 'never',
      });
    return way.describe(model);
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#processes.close()]);
  }

  /**
   * Returns undefined also for a provider that only a later release knows, whose model was added before a downgrade.
   */
  #way<Kind extends ModelKind>(kind: Kind, model: AskedModel): Ways[Kind] | undefined {
    const ways = (this.#ways as Partial<Record<string, Partial<Ways>>>)[model.provider];
    return model.kind === kind ? ways?.[kind] : undefined;
  }

  #folderOf(model: AskedModel): OnnxModelOptions {
    const { name, folder, tokens_max: tokensMax, document_prefix: documentPrefix, fingerprint = '' } = model;
    const path = join(this.options.onnx.folders, folder ?? name);
    return { processes: this.#processes, folder: path, tokensMax, documentPrefix, fingerprint };
  }

  #openAi(model: DescribedModel): OpenAiEmbeddings {
    return new OpenAiEmbeddings(this.#service(model, '/v1/embeddings'), model, model.url ?? '');
  }

  #openAiChat(model: DescribedModel): OpenAiChat {
    const limits = limitsOf(this.options.chatMs, CHAT_ANSWER_BYTES_MAX);
    return new OpenAiChat(this.#service(model, '/v1/chat/completions', limits), model);
  }

  #openAiTranscription(model: DescribedModel): OpenAiTranscription {
    const limits = limitsOf(this.options.transcriptionMs, TRANSCRIPT_BYTES_MAX);
    return new OpenAiTranscription(this.#service(model, '/v1/audio/transcriptions', limits), model);
  }

  #rerankService(model: DescribedModel): RerankService {
    return new RerankService(this.#service(model, '/rerank'), model);
  }

  #service({ url, secret }: Pick<Model, 'url' | 'secret'>, path: Endpoint, limits = {}): JsonService {
    return new JsonService({ client: this.#client, url: endpointOf(url ?? '', path), secret, limits });
  }
}

/** Describes a model by a trial call only, for providers whose models do not describe themselves. */
function asked<Source>(open: (model: AskedModel) => Source, probe: (source: Source) => Promise<unknown>): Way<Source> {
  return {
    open,
    describe: async (model) => {
      await probe(open(model));
      return {};
    },
  };
}

function limitsOf(ms: number, bytes: number) {
  return { headersMs: ms, idleMs: ms, totalMs: ms, wireBytesMax: bytes, bytesMax: bytes };
}

/** Returns a WAV file with one second of silence: one channel, 8,000 samples of 16 bits. */
function silence(): Uint8Array {
  const [headBytes, samples, sampleBytes] = [44, 8000, 2];
  const file = Buffer.alloc(headBytes + samples * sampleBytes);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(samples, 24);
  file.writeUInt32LE(samples * sampleBytes, 28);
  file.writeUInt16LE(sampleBytes, 32);
  file.writeUInt16LE(sampleBytes * 8, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(samples * sampleBytes, 40);
  return file;
}
