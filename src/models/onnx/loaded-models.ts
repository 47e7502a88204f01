/** Models that a process has in memory: loaded when one is asked for, and let go of where another takes its place. */
import { cutPassages } from '../passages.js';
import type { TextToEmbed } from '../../vectors/index.js';
import { TOKENS_MAX_DEFAULT } from '../types.js';
import { Graph } from './graph.js';
import { fingerprintOf, readModelFolder, type ModelFolder } from './model-folder.js';
import { OnnxError, type OnnxDescription, type OnnxKind, type OnnxModel } from './onnx-protocol.js';
import { TokenReader } from './token-reader.js';

/** Of one process; the one that was not asked for the longest goes first. */
const LOADED_MAX = 2;
/** A folder that does not say how much its model reads holds one of at most so many tokens. */
const TOKENS_MAX_UNSAID = 256;
const PROBE = 'A gannet dives into the sea. ';

interface Loaded {
  readonly folder: ModelFolder;
  readonly fingerprint: string;
  readonly tokens: TokenReader;
  readonly graph: Graph;
}

export class LoadedModels {
  /** In the order in which they were last asked for. */
  readonly #loaded = new Map<string, Promise<Loaded>>();

  async load(model: OnnxModel): Promise<void> {
    await this.#of(model);
  }

  /** What it is, found out with a text that is as long as any will be. Rejects with an OnnxError. */
  async describe(model: OnnxModel, kind: OnnxKind, tokensMax: number | null): Promise<OnnxDescription> {
    const { folder, fingerprint, tokens, graph } = await this.#of(model);
    // Longer texts take memory and time that grow with the square: who wants them says so.
    const said = folder.tokensMax === null ? TOKENS_MAX_UNSAID : Math.min(folder.tokensMax, TOKENS_MAX_DEFAULT);
    const count = tokensMax ?? said;
    const text = PROBE.repeat(Math.ceil(count / Math.max(1, tokens.count(PROBE))));
    const { queryPrefix, documentPrefix } = folder;
    const known = { fingerprint, tokensMax: said, queryPrefix, documentPrefix };
    if (kind === 'reranker') {
      await graph.relevanceOf(tokens.readPair(PROBE, text, count));
      return { ...known, dimensions: null };
    }
    const { length } = await graph.vectorOf(tokens.read(text, count), folder.pooling);
    if (length < 2) throw new OnnxError('folder', 'The model answers one number of a text, which is no vector.');
    return { ...known, dimensions: length };
  }

  /** At most so many tokens each, the prefix and what stands around a text included. */
  async passages(
    model: OnnxModel,
    texts: readonly TextToEmbed[],
    { tokensMax, prefix }: { readonly tokensMax: number; readonly prefix: string },
  ): Promise<readonly (readonly string[])[]> {
    const { tokens } = await this.#of(model);
    const room = Math.max(1, tokensMax - tokens.around - (prefix === '' ? 0 : tokens.count(prefix)));
    return texts.map((text) => cutPassages(text, room, (piece) => tokens.count(piece)));
  }

  async vectors(model: OnnxModel, texts: readonly string[], tokensMax: number): Promise<readonly Float32Array[]> {
    const { folder, tokens, graph } = await this.#of(model);
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await graph.vectorOf(tokens.read(text, tokensMax), folder.pooling));
    return vectors;
  }

  async relevances(
    model: OnnxModel,
    { query, documents, tokensMax }: { query: string; documents: readonly string[]; tokensMax: number },
  ): Promise<readonly number[]> {
    const { tokens, graph } = await this.#of(model);
    const relevances: number[] = [];
    for (const document of documents) {
      relevances.push(await graph.relevanceOf(tokens.readPair(query, document, tokensMax)));
    }
    return relevances;
  }

  /** Rejects with an OnnxError, also where it is not what it was when it was added. */
  async #of(model: OnnxModel): Promise<Loaded> {
    const loading = this.#taken(model);
    const loaded = await loading.catch((error: unknown) => {
      this.#loaded.delete(keyOf(model));
      throw error;
    });
    if (model.fingerprint === undefined || loaded.fingerprint === model.fingerprint) return loaded;
    this.#loaded.delete(keyOf(model));
    await loaded.graph.close();
    throw new OnnxError(
      'changed',
      'The files of its folder are others than when it was added. If that is meant so, say it with gannet model update.',
    );
  }

  #taken(model: OnnxModel): Promise<Loaded> {
    const key = keyOf(model);
    const loading = this.#loaded.get(key) ?? load(model.folder);
    this.#loaded.delete(key);
    this.#loaded.set(key, loading);
    for (const [oldest, other] of this.#loaded) {
      if (this.#loaded.size <= LOADED_MAX) break;
      this.#loaded.delete(oldest);
      // What is not there any more needs no closing.
      void other.then(({ graph }) => graph.close()).catch(() => undefined);
    }
    return loading;
  }
}

async function load(path: string): Promise<Loaded> {
  const folder = readModelFolder(path);
  const tokens = new TokenReader(folder.tokenizer, folder.tokenizerConfig);
  const [graph, fingerprint] = await Promise.all([Graph.open(folder.graphPath), fingerprintOf(path, folder)]);
  return { folder, fingerprint, tokens, graph };
}

function keyOf({ folder, fingerprint = '' }: OnnxModel): string {
  return `${folder}\n${fingerprint}`;
}
