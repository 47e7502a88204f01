/** Each model as its provider has it: how it is asked, and what it is found to be before it is added. Main thread only. */
import { join } from 'node:path';
import { OutboundClient } from '../platform/outbound/outbound-client.js';
import type { OutboundRules } from '../platform/index.js';
import type { Reranker } from '../vectors/index.js';
import type { EmbeddingSource, SourceDescription } from './embedder.js';
import { JsonService } from './json-service.js';
import { describeOnnx, OnnxEmbeddings, OnnxPictures, OnnxReranker, type OnnxModelOptions } from './onnx/onnx-models.js';
import { OnnxProcesses, type OnnxProcessesOptions } from './onnx/onnx-processes.js';
import { CHAT_ANSWER_BYTES_MAX, OpenAiChat, type ChatSource } from './chat.js';
import { endpointOf, OpenAiEmbeddings, RerankService, type Endpoint } from './remote-models.js';
import { OpenAiTranscription, TRANSCRIPT_BYTES_MAX, type TranscriptionSource } from './transcription.js';
import type { Model } from './types.js';

const CONNECT_MS = 10_000;
const KEEP_ALIVE_MS = 30_000;
const CONNECTIONS_PER_HOST_MAX = 8;
const CONNECTIONS_MAX = 64;
const WAITING_MAX = 1024;
/** An answer of 256 vectors of 4,096 numbers, each of 20 characters, and as much again. */
const ANSWER_BYTES_MAX = 64 * 2 ** 20;
/** What a reranker is asked to find out whether it answers. */
const PROBE_DOCUMENTS = ['A gannet dives into the sea.', 'Interest rates rose.'];
/** The same for a model that writes down what is said: a second in which nothing is. */
const PROBE_SOUND = { bytes: silence(), fileName: 'silence.wav', mimeType: 'audio/wav' };
/** The same for a model that writes. */
const PROBE_MESSAGE = { role: 'user', content: 'Answer with the word gannet.' } as const;
const PROBE_TOKENS_MAX = 64;

export interface OnnxOptions extends Omit<OnnxProcessesOptions, 'callMs'> {
  /** Absolute: where the folders of models lie. */
  readonly folders: string;
}

export interface ModelProvidersOptions {
  readonly callMs: number;
  /** The same of models that write. */
  readonly chatMs: number;
  /** The same of models that write down what is said. */
  readonly transcriptionMs: number;
  readonly outbound: OutboundRules;
  readonly onnx: OnnxOptions;
}

/** A model that may not be added yet; null: how much it reads is not said. */
export type DescribedModel = Omit<
  Model,
  'fingerprint' | 'created_utc' | 'modified_utc' | 'tokens_max' | 'inputs' | 'pictures'
> & {
  readonly tokens_max: number | null;
};

export class ModelProviders {
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

  /** Undefined of a model that makes no vectors of texts here. */
  source(model: Model): EmbeddingSource | undefined {
    if (model.kind !== 'embedding' || !model.inputs.includes('text')) return undefined;
    if (model.provider === 'onnx') return new OnnxEmbeddings(this.#folderOf(model));
    return model.provider === 'openai' ? this.#openAi(model) : undefined;
  }

  /** Undefined of a model that reads no pictures. */
  pictures(model: Model): OnnxPictures | undefined {
    const reads = model.provider === 'onnx' && model.pictures !== null;
    return reads ? new OnnxPictures(this.#folderOf(model)) : undefined;
  }

  reranker(model: Model): Reranker {
    return model.provider === 'onnx' ? new OnnxReranker(this.#folderOf(model)) : this.#rerankService(model);
  }

  /** Undefined of a model that does not write. */
  chat(model: DescribedModel): ChatSource | undefined {
    if (model.kind !== 'chat' || model.provider !== 'openai') return undefined;
    const limits = limitsOf(this.options.chatMs, CHAT_ANSWER_BYTES_MAX);
    return new OpenAiChat(this.#service(model, '/v1/chat/completions', limits), model);
  }

  /** Undefined of a model that writes nothing down. */
  transcription(model: DescribedModel): TranscriptionSource | undefined {
    if (model.kind !== 'transcription' || model.provider !== 'openai') return undefined;
    const limits = limitsOf(this.options.transcriptionMs, TRANSCRIPT_BYTES_MAX);
    return new OpenAiTranscription(this.#service(model, '/v1/audio/transcriptions', limits), model);
  }

  /** Asks it what it is. Rejects with a ModelError where it does not work. */
  async describe(model: DescribedModel): Promise<Partial<SourceDescription>> {
    const { provider, kind } = model;
    if (provider === 'onnx') return describeOnnx(this.#folderOf(model), kind === 'reranker' ? kind : 'embedding');
    if (provider === 'rerank') await this.#rerankService(model).rerank('gannet', PROBE_DOCUMENTS);
    await this.chat(model)?.write({ messages: [PROBE_MESSAGE], tokensMax: PROBE_TOKENS_MAX });
    await this.transcription(model)?.transcribe(PROBE_SOUND);
    return provider === 'openai' && kind === 'embedding' ? this.#openAi(model).describe() : {};
  }

  async close(): Promise<void> {
    await Promise.all([this.#client.close(), this.#processes.close()]);
  }

  #folderOf(model: DescribedModel & Partial<Pick<Model, 'fingerprint'>>): OnnxModelOptions {
    const { name, folder, tokens_max: tokensMax, document_prefix: documentPrefix, fingerprint = '' } = model;
    const path = join(this.options.onnx.folders, folder ?? name);
    return { processes: this.#processes, folder: path, tokensMax, documentPrefix, fingerprint };
  }

  #openAi(model: DescribedModel): OpenAiEmbeddings {
    return new OpenAiEmbeddings(this.#service(model, '/v1/embeddings'), model, model.url ?? '');
  }

  #rerankService(model: DescribedModel): RerankService {
    return new RerankService(this.#service(model, '/rerank'), model);
  }

  #service({ url, secret }: Pick<Model, 'url' | 'secret'>, path: Endpoint, limits = {}): JsonService {
    return new JsonService({ client: this.#client, url: endpointOf(url ?? '', path), secret, limits });
  }
}

function limitsOf(ms: number, bytes: number) {
  return { headersMs: ms, idleMs: ms, totalMs: ms, wireBytesMax: bytes, bytesMax: bytes };
}

/** One channel of 8,000 samples of 16 bits, as a file. */
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
