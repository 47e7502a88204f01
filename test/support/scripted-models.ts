/** Models for tests of lists: vectors are derived from texts by a reproducible rule, and failures are scripted. */
import { createHash } from 'node:crypto';
import { MODELS_WITHOUT_ADDING, type Embedder, type ListModels, type SearchReranker } from '../../src/vectors/index.js';

/** Returns a vector of length 1 derived from the text. */
export function hashedVector(text: string, dimensions: number): Float32Array {
  const bytes = createHash('shake256', { outputLength: dimensions }).update(text).digest();
  const vector = Float32Array.from(bytes, (byte) => byte - 127.5);
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}

export interface ScriptedEmbedderOptions {
  readonly version?: string;
  readonly dimensions?: number;
  readonly batchTexts?: number;
}

export class ScriptedEmbedder implements Embedder {
  readonly version: string;
  readonly dimensions: number;
  readonly batchTexts: number;
  /** Texts of all calls, in order. */
  readonly asked: string[] = [];
  calls = 0;
  /** Override to make a call fail, or to change its answer. */
  answer = (texts: readonly string[]): Float32Array[] | Promise<Float32Array[]> =>
    texts.map((text) => hashedVector(text, this.dimensions));

  constructor({ version = 'scripted-1', dimensions = 8, batchTexts = 4 }: ScriptedEmbedderOptions = {}) {
    this.version = version;
    this.dimensions = dimensions;
    this.batchTexts = batchTexts;
  }

  /** Returns one passage per sentence. */
  passages(texts: readonly { readonly title: string; readonly text: string }[]): Promise<readonly string[][]> {
    const cut = texts.map(({ title, text }) => {
      const sentences = text.split('. ').filter((sentence) => sentence !== '');
      return sentences.length === 0 ? [title] : sentences.map((sentence) => `${title}: ${sentence}`);
    });
    return Promise.resolve(cut);
  }

  async embed(texts: readonly string[]): Promise<Float32Array[]> {
    this.calls += 1;
    this.asked.push(...texts);
    return this.answer(texts);
  }
}

export class ScriptedModels implements ListModels {
  private readonly listeners: (() => void)[] = [];

  constructor(
    readonly embedders: Record<string, Embedder> = {},
    readonly rerankers: Record<string, SearchReranker> = {},
  ) {}

  async embedQuery(embedder: Embedder, text: string): Promise<Float32Array> {
    const [vector] = await embedder.embed([text], 'query');
    return vector as Float32Array;
  }

  reranker(_account: string, name: string): SearchReranker | undefined {
    return this.rerankers[name];
  }

  pictures(): undefined {
    return undefined;
  }

  knows(account: string, model: string): boolean {
    return model in this.embedders || MODELS_WITHOUT_ADDING.knows(account, model);
  }

  names(account: string): readonly string[] {
    return [...MODELS_WITHOUT_ADDING.names(account), ...Object.keys(this.embedders), ...Object.keys(this.rerankers)];
  }

  attached(list: Parameters<ListModels['attached']>[0]): ReturnType<ListModels['attached']> {
    const embedder = this.embedders[list.model];
    return embedder === undefined ? MODELS_WITHOUT_ADDING.attached(list) : { source: 'embedder', embedder };
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  changed(): void {
    for (const listener of this.listeners) listener();
  }
}
