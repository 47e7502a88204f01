/** Models loaded in a process: loaded on first use, and evicted when others take their place. */
import { cutPassages } from '../passages.js';
import type { DescribedPictures } from '../embedder.js';
import type { TextToEmbed } from '../../vectors/index.js';
import { TOKENS_MAX_DEFAULT } from '../types.js';
import { Graph } from './graph.js';
import { fingerprintOf, readModelFolder, type ModelFolder, type TextFolder } from './model-folder.js';
import { OnnxError, type OnnxDescription, type OnnxKind, type OnnxModel } from './onnx-protocol.js';
import { PictureGraph } from './picture-graph.js';
import { cosinesAtRandom, PROBE_TEXTS, probePictures } from './probes.js';
import { TokenReader } from './token-reader.js';

/** Limit per process. The least recently used model is evicted. */
const LOADED_MAX = 2;
/** Token limit of a model whose folder does not state one. */
const TOKENS_MAX_UNSAID = 256;
const PROBE = 'A gannet dives into the sea. ';

interface TextSide {
  readonly folder: TextFolder;
  readonly tokens: TokenReader;
  readonly graph: Graph;
  /** True if texts are padded to the length used in training, because the graph has no mask for padding. */
  readonly isFilled: boolean;
}

/** A loaded model. If it has two graphs, each is loaded when needed. */
class LoadedModel {
  #texts: Promise<TextSide> | undefined;
  #pictures: Promise<PictureGraph> | undefined;

  private constructor(
    readonly folder: ModelFolder,
    readonly fingerprint: string,
  ) {}

  static async of(path: string): Promise<LoadedModel> {
    const folder = readModelFolder(path);
    return new LoadedModel(folder, await fingerprintOf(path, folder));
  }

  /** Loads the graph of texts. Rejects with an OnnxError. */
  texts(): Promise<TextSide> {
    this.#texts ??= openTexts(this.folder).catch((error: unknown) => {
      this.#texts = undefined;
      throw error;
    });
    return this.#texts;
  }

  /** Loads the graph of pictures. Rejects with an OnnxError. */
  pictures(): Promise<PictureGraph> {
    this.#pictures ??= openPictures(this.folder).catch((error: unknown) => {
      this.#pictures = undefined;
      throw error;
    });
    return this.#pictures;
  }

  /** Loads the graphs needed for searches. */
  async load(): Promise<void> {
    const { texts, pictures } = this.folder;
    await Promise.all([texts && this.texts(), pictures && this.pictures()]);
  }

  async close(): Promise<void> {
    const ignored = () => undefined;
    // A graph that failed to load needs no closing.
    await this.#texts?.then(({ graph }) => graph.close(), ignored);
    await this.#pictures?.then((graph) => graph.close(), ignored);
  }
}

export class LoadedModels {
  /** Ordered by last use. */
  readonly #loaded = new Map<string, Promise<LoadedModel>>();
  /** Last model used, if open: a search waits for every turn of the event loop that is saved here. */
  #latest: { readonly model: OnnxModel; readonly side: TextSide } | undefined;

  async load(model: OnnxModel): Promise<void> {
    await (await this.#of(model)).load();
  }

  /** Describes a model by running it on a text as long as any will be, and on pictures. Rejects with an OnnxError. */
  async describe({ folder }: OnnxModel, kind: OnnxKind, tokensMax: number | null): Promise<OnnxDescription> {
    const loaded = await LoadedModel.of(folder);
    try {
      return await describeModel(loaded, kind, tokensMax);
    } finally {
      await loaded.close();
    }
  }

  /** Cuts texts into passages of at most `tokensMax` tokens each, including the prefix and special tokens. */
  async passages(
    model: OnnxModel,
    texts: readonly TextToEmbed[],
    { tokensMax, prefix }: { readonly tokensMax: number; readonly prefix: string },
  ): Promise<readonly (readonly string[])[]> {
    const { tokens } = await this.#texts(model);
    const room = Math.max(1, tokensMax - tokens.around - (prefix === '' ? 0 : tokens.count(prefix)));
    return texts.map((text) => cutPassages(text, room, (piece) => tokens.count(piece)));
  }

  async vectors(model: OnnxModel, texts: readonly string[], tokensMax: number): Promise<readonly Float32Array[]> {
    const side = this.#latest?.model === model ? this.#latest.side : await this.#texts(model);
    const vectors: Float32Array[] = [];
    for (const text of texts) vectors.push(await vectorOfText(side, text, tokensMax));
    return vectors;
  }

  async pictureVector(model: OnnxModel, pixels: Uint8Array): Promise<Float32Array> {
    const graph = await (await this.#of(model)).pictures();
    return graph.vectorOf(pixels);
  }

  async relevances(
    model: OnnxModel,
    { query, documents, tokensMax }: { query: string; documents: readonly string[]; tokensMax: number },
  ): Promise<readonly number[]> {
    const { tokens, graph } = await this.#texts(model);
    const relevances: number[] = [];
    for (const document of documents) {
      relevances.push(await graph.relevanceOf(tokens.readPair(query, document, tokensMax)));
    }
    return relevances;
  }

  async #texts(model: OnnxModel): Promise<TextSide> {
    const side = await (await this.#of(model)).texts();
    // It may have been evicted meanwhile.
    if (this.#loaded.has(keyOf(model))) this.#latest = { model, side };
    return side;
  }

  /** Returns the model. Rejects with an OnnxError, also if its folder has changed since it was added. */
  async #of(model: OnnxModel): Promise<LoadedModel> {
    const loaded = await this.#taken(model);
    if (model.fingerprint === undefined || loaded.fingerprint === model.fingerprint) return loaded;
    this.#loaded.delete(keyOf(model));
    await loaded.close();
    throw new OnnxError(
      'changed',
      'The files of its folder are others than when it was added. If that is meant so, say it with gannet model update.',
    );
  }

  /** Loads a model. A failed load is not cached. */
  #loading(key: string, folder: string): Promise<LoadedModel> {
    const loading = LoadedModel.of(folder);
    loading.catch(() => {
      if (this.#loaded.get(key) === loading) this.#loaded.delete(key);
    });
    return loading;
  }

  #taken(model: OnnxModel): Promise<LoadedModel> {
    this.#latest = undefined;
    const key = keyOf(model);
    const loading = this.#loaded.get(key) ?? this.#loading(key, model.folder);
    this.#loaded.delete(key);
    this.#loaded.set(key, loading);
    for (const [oldest, other] of this.#loaded) {
      if (this.#loaded.size <= LOADED_MAX) break;
      this.#loaded.delete(oldest);
      // A model that failed to load needs no closing.
      void other.then((loaded) => loaded.close()).catch(() => undefined);
    }
    return loading;
  }
}

async function describeModel(loaded: LoadedModel, kind: OnnxKind, tokensMax: number | null): Promise<OnnxDescription> {
  const { folder, fingerprint } = loaded;
  if (kind === 'reranker' && folder.texts === undefined)
    throw new OnnxError('folder', 'The folder holds a model of pictures, which orders no texts.');
  const texts = folder.texts === undefined ? NO_TEXTS : await describeTexts(await loaded.texts(), kind, tokensMax);
  const known = { ...texts, fingerprint, readsTexts: folder.texts !== undefined };
  if (folder.pictures === undefined || kind === 'reranker') return { ...known, pictures: null };
  const pictures = await describePictures(loaded);
  if (texts.dimensions !== null && texts.dimensions !== pictures.dimensions) {
    throw new OnnxError(
      'folder',
      `The model has ${texts.dimensions} dimensions for texts and ${pictures.dimensions} for pictures, which cannot be compared.`,
    );
  }
  return { ...known, ...pictures };
}

const NO_TEXTS = { dimensions: null, tokensMax: null, queryPrefix: null, documentPrefix: null };

async function describeTexts(side: TextSide, kind: OnnxKind, tokensMax: number | null) {
  const { folder, tokens, graph } = side;
  // Time and memory grow with the square of the length, so longer texts have to be requested explicitly.
  const said = folder.tokensMax === null ? TOKENS_MAX_UNSAID : Math.min(folder.tokensMax, TOKENS_MAX_DEFAULT);
  const count = tokensMax ?? said;
  const text = PROBE.repeat(Math.ceil(count / Math.max(1, tokens.count(PROBE))));
  const { queryPrefix, documentPrefix } = folder;
  const known = { tokensMax: said, queryPrefix, documentPrefix };
  if (kind === 'reranker') {
    await graph.relevanceOf(tokens.readPair(PROBE, text, count));
    return { ...known, dimensions: null };
  }
  const { length } = await vectorOfText(side, text, count);
  if (length < 2) throw new OnnxError('folder', 'The model answers one number of a text, which is no vector.');
  return { ...known, dimensions: length };
}

/** Measures the cosines of unrelated pictures and texts. */
async function describePictures(
  loaded: LoadedModel,
): Promise<{ readonly dimensions: number; readonly pictures: DescribedPictures }> {
  const { folder } = loaded;
  const graph = await loaded.pictures();
  const { shape } = graph;
  const seen: Float32Array[] = [];
  for (const pixels of probePictures(shape)) seen.push(await graph.vectorOf(pixels));
  const dimensions = seen[0]?.length ?? 0;
  if (dimensions < 2) throw new OnnxError('folder', 'The model answers one number of a picture, which is no vector.');
  const random = finite(cosinesAtRandom(seen));
  if (folder.texts === undefined) return { dimensions, pictures: { shape, random, words: null } };
  const side = await loaded.texts();
  const read: Float32Array[] = [];
  for (const text of PROBE_TEXTS) read.push(await vectorOfText(side, text, side.folder.tokensMax ?? TOKENS_MAX_UNSAID));
  // Vectors of texts and pictures with different lengths cannot be compared.
  const words = read[0]?.length === dimensions ? finite(cosinesAtRandom(seen, read)) : null;
  return { dimensions, pictures: { shape, random, words } };
}

function finite<Cosines extends { readonly mean: number }>(cosines: Cosines): Cosines {
  if (Number.isFinite(cosines.mean)) return cosines;
  throw new OnnxError('folder', 'The model answers vectors without a direction.');
}

function vectorOfText(
  { folder, tokens, graph, isFilled }: TextSide,
  text: string,
  tokensMax: number,
): Promise<Float32Array> {
  const read = tokens.read(text, tokensMax);
  return graph.vectorOf(isFilled ? tokens.filledUp(read) : read, folder.pooling);
}

async function openTexts({ texts, pictures }: ModelFolder): Promise<TextSide> {
  if (texts === undefined) throw new OnnxError('folder', 'The folder holds a model of pictures, which reads no texts.');
  const tokens = new TokenReader(texts.tokenizer, texts.tokenizerConfig);
  const graph = await Graph.open(texts.graphPath);
  return { folder: texts, tokens, graph, isFilled: pictures !== undefined && !graph.hasMask };
}

async function openPictures({ pictures }: ModelFolder): Promise<PictureGraph> {
  if (pictures === undefined)
    throw new OnnxError('folder', 'The folder holds a model of texts, which reads no pictures.');
  return PictureGraph.open(pictures.graphPath, pictures.preparation);
}

function keyOf({ folder, fingerprint = '' }: OnnxModel): string {
  return `${folder}\n${fingerprint}`;
}
