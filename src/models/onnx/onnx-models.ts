/** Embedding models of texts and pictures, and rerankers, from ONNX folders. */
import type { Reranker, TextToEmbed } from '../../vectors/index.js';
import { checkedRelevances } from '../checked-answers.js';
import type { EmbeddingCall, EmbeddingSource, SourceDescription } from '../embedder.js';
import type { OnnxKind, OnnxModel } from './onnx-protocol.js';
import type { OnnxProcesses, OnnxRole } from './onnx-processes.js';

/**
 * Text per call: enough that the transfer is short compared with the work, and little enough that processes finish
 * together.
 */
const CALL_CHARACTERS = 600;

export interface OnnxModelOptions {
  readonly processes: OnnxProcesses;
  /** Absolute path. */
  readonly folder: string;
  /** Null if the folder determines it. */
  readonly tokensMax: number | null;
  readonly documentPrefix: string;
  /** Fingerprint of the added model. Empty if it is described before it is added. */
  readonly fingerprint: string;
}

/** Describes the model in a folder. Rejects with a ModelError. */
export async function describeOnnx(
  { processes, folder, tokensMax }: OnnxModelOptions,
  kind: OnnxKind,
): Promise<Partial<SourceDescription>> {
  const ask = { model: { folder }, kind, tokensMax };
  const { dimensions, ...rest } = await processes.ask('trials', (host, call) => host.call('describe', ask, call));
  return dimensions === null ? rest : { ...rest, dimensions };
}

abstract class OnnxFolderModel {
  protected readonly model: OnnxModel;
  protected readonly tokensMax: number;

  constructor(protected readonly options: OnnxModelOptions) {
    const { folder, fingerprint, tokensMax } = options;
    this.model = fingerprint === '' ? { folder } : { folder, fingerprint };
    this.tokensMax = tokensMax ?? 0;
  }

  /**
   * Distributes texts over several calls, the longest texts first, so that no long one starts when the others are about
   * to finish.
   */
  protected async shared<Text, Answer>(
    texts: readonly Text[],
    lengthOf: (text: Text) => number,
    ask: (texts: readonly Text[]) => Promise<readonly Answer[]>,
  ): Promise<readonly Answer[]> {
    const answers = new Array<Answer>(texts.length);
    const lengths = texts.map(lengthOf);
    const order = [...texts.keys()].sort((a, b) => (lengths[b] ?? 0) - (lengths[a] ?? 0));
    const calls: number[][] = [];
    let characters = Infinity;
    for (const index of order) {
      characters += lengths[index] ?? 0;
      if (characters <= CALL_CHARACTERS) calls.at(-1)?.push(index);
      else {
        calls.push([index]);
        characters = lengths[index] ?? 0;
      }
    }
    // Waits for all calls, so that none is in flight when the first error is thrown.
    const ends = await Promise.allSettled(
      calls.map(async (indexes) => {
        const answered = await ask(indexes.map((index) => texts[index] as Text));
        for (const [position, index] of indexes.entries()) answers[index] = answered[position] as Answer;
      }),
    );
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
    return answers;
  }
}

export class OnnxEmbeddings extends OnnxFolderModel implements EmbeddingSource {
  async passages(texts: readonly TextToEmbed[], signal?: AbortSignal): Promise<readonly (readonly string[])[]> {
    const { model, tokensMax, options } = this;
    const asked = { model, tokensMax, prefix: options.documentPrefix };
    return this.shared(
      texts,
      ({ title, text }) => title.length + text.length,
      async (some) => {
        const { passages } = await options.processes.ask(
          'records',
          (host, call) => host.call('passages', { ...asked, texts: some }, call),
          signal,
        );
        return passages;
      },
    );
  }

  embed(texts: readonly string[], { purpose, signal }: EmbeddingCall): Promise<readonly Float32Array[]> {
    const role = purpose === 'query' ? 'searches' : 'records';
    if (role === 'records') this.options.processes.warmSearches(this.model);
    const ask = (some: readonly string[]) => this.#vectors(role, some, signal);
    // A single text needs no distribution, and a search waits for it.
    return texts.length === 1 ? ask(texts) : this.shared(texts, ({ length }) => length, ask);
  }

  async #vectors(role: OnnxRole, texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const ask = { model: this.model, tokensMax: this.tokensMax, texts };
    const answer = await this.options.processes.ask(role, (host, call) => host.call('embed', ask, call), signal);
    return answer.vectors;
  }
}

/** Makes vectors of pictures, one per call, since the work takes longer than the transfer. */
export class OnnxPictures extends OnnxFolderModel {
  async embed(pixels: Uint8Array, { purpose, signal }: EmbeddingCall): Promise<Float32Array> {
    const { model, options } = this;
    const role = purpose === 'query' ? 'searches' : 'records';
    if (role === 'records') options.processes.warmSearches(model);
    const ask = { model, pixels };
    const { vector } = await options.processes.ask(role, (host, call) => host.call('embedPicture', ask, call), signal);
    return vector;
  }
}

export class OnnxReranker extends OnnxFolderModel implements Reranker {
  async rerank(query: string, documents: readonly string[], signal?: AbortSignal): Promise<readonly number[]> {
    const { model, tokensMax, options } = this;
    // Split into several calls, so that no further one starts after the caller has left.
    const relevances = await this.shared(
      documents,
      ({ length }) => length,
      async (some) => {
        const ask = { model, tokensMax, query, documents: some };
        const answer = await options.processes.ask(
          'searches',
          (host, call) => host.call('relevances', ask, call),
          signal,
        );
        return answer.relevances;
      },
    );
    return checkedRelevances(
      relevances.map((relevance, index) => ({ index, relevance })),
      documents.length,
    );
  }
}
