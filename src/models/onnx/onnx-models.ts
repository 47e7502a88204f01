/** Models of ONNX folders: vectors of texts and of pictures, and rerankers. */
import type { Reranker, TextToEmbed } from '../../vectors/index.js';
import { checkedRelevances } from '../checked-answers.js';
import type { EmbeddingCall, EmbeddingSource, SourceDescription } from '../embedder.js';
import type { OnnxKind, OnnxModel } from './onnx-protocol.js';
import type { OnnxProcesses, OnnxRole } from './onnx-processes.js';

/** A call carries about so much text, so that its way to the process is short beside its work and processes end together. */
const CALL_CHARACTERS = 600;

export interface OnnxModelOptions {
  readonly processes: OnnxProcesses;
  /** Absolute. */
  readonly folder: string;
  /** Null: the folder says it. */
  readonly tokensMax: number | null;
  readonly documentPrefix: string;
  /** Of what was added; empty where it is looked at before. */
  readonly fingerprint: string;
}

/** What the folder holds. Rejects with a ModelError. */
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

  /** In calls of some texts each, the longest first, so that none of them is begun when the others are about to end. */
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
    // All are waited for, so that none is at work when the first failure is thrown.
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
    // Nothing is to be shared of one, and a search waits for it.
    return texts.length === 1 ? ask(texts) : this.shared(texts, ({ length }) => length, ask);
  }

  async #vectors(role: OnnxRole, texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]> {
    const ask = { model: this.model, tokensMax: this.tokensMax, texts };
    const answer = await this.options.processes.ask(role, (host, call) => host.call('embed', ask, call), signal);
    return answer.vectors;
  }
}

/** One picture a call: its vector takes longer than its way to the process. */
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
    // In several calls, so that what nobody waits for any more is not begun.
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
