/**
 * Reads a folder with a model in the layout of sentence-transformers: `tokenizer.json`, `model.onnx` or
 * `onnx/model.onnx`, and optional files that say how the model is used. A model of pictures has a
 * `preprocessor_config.json`; if it also reads texts, its graphs are `vision_model.onnx` and `text_model.onnx`. Runs in
 * the processes that run models.
 */
import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { memberOf } from '../checked-answers.js';
import { OnnxError } from './onnx-protocol.js';
import { PREPARATION, preparationOf, type PicturePreparation } from './picture-preparation.js';
import type { Pooling } from './pooling.js';

/** Contents of a folder. At least one of both is defined. */
export interface ModelFolder {
  readonly texts: TextFolder | undefined;
  readonly pictures: PictureFolder | undefined;
}

export interface PictureFolder {
  readonly graphPath: string;
  readonly preparation: PicturePreparation;
}

export interface TextFolder {
  readonly graphPath: string;
  readonly tokenizer: object;
  readonly tokenizerConfig: object;
  readonly pooling: Pooling;
  readonly tokensMax: number | null;
  readonly queryPrefix: string | null;
  readonly documentPrefix: string | null;
}

const GRAPHS = graphsOf('model.onnx');
/** Graphs of a model for both, whose vectors are comparable. */
const PICTURE_GRAPHS = graphsOf('vision_model.onnx');
const TEXT_GRAPHS = graphsOf('text_model.onnx');
const TOKENIZER = 'tokenizer.json';
const TOKENIZER_CONFIG = 'tokenizer_config.json';
const POOLING = join('1_Pooling', 'config.json');
const MODULES = 'modules.json';
const PROMPTS = 'config_sentence_transformers.json';
const CONFIG = 'config.json';
/** Its limit takes precedence over those of `config.json` and the tokenizer, which state what the model could read. */
const SENTENCE_CONFIG = 'sentence_bert_config.json';
/** Files that determine the vectors besides the graph. */
const DECISIVE = [TOKENIZER, TOKENIZER_CONFIG, POOLING, MODULES];

const POOLING_MEMBERS: Readonly<Record<string, Pooling>> = {
  pooling_mode_cls_token: 'cls',
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_max_tokens: 'max',
  pooling_mode_lasttoken: 'lasttoken',
};
/** Steps of sentence-transformers that are implemented here. */
const KNOWN_MODULES = /\.(?:Transformer|Pooling|Normalize)$/;

/** Reads a folder. Throws an OnnxError that names a missing or invalid file. */
export function readModelFolder(folder: string): ModelFolder {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new OnnxError('folder', `There is no folder ${folder}.`);
  }
  const preparation = optional(folder, PREPARATION);
  const pictureGraph = existing(folder, PICTURE_GRAPHS);
  if (pictureGraph !== undefined && preparation === undefined)
    throw new OnnxError('folder', `The folder has ${pictureGraph}, and no file ${PREPARATION}.`);
  if (preparation === undefined) return { texts: textFolder(folder, required(folder, GRAPHS)), pictures: undefined };
  const textGraph = pictureGraph === undefined ? undefined : existing(folder, TEXT_GRAPHS);
  return {
    texts: textGraph === undefined ? undefined : textFolder(folder, textGraph),
    pictures: {
      graphPath: join(folder, pictureGraph ?? required(folder, GRAPHS)),
      preparation: preparationOf(preparation),
    },
  };
}

function textFolder(folder: string, graph: string): TextFolder {
  const tokenizer = optional(folder, TOKENIZER);
  if (tokenizer === undefined) throw new OnnxError('folder', `The folder has no file ${TOKENIZER}.`);
  const tokenizerConfig = optional(folder, TOKENIZER_CONFIG) ?? {};
  assertModulesKnown(optional(folder, MODULES));
  const prompts = memberOf(optional(folder, PROMPTS), 'prompts');
  return {
    graphPath: join(folder, graph),
    tokenizer,
    tokenizerConfig,
    pooling: poolingOf(optional(folder, POOLING)),
    tokensMax: tokensMaxOf(optional(folder, SENTENCE_CONFIG), optional(folder, CONFIG), tokenizerConfig),
    queryPrefix: textOf(memberOf(prompts, 'query')),
    documentPrefix: textOf(memberOf(prompts, 'document') ?? memberOf(prompts, 'passage')),
  };
}

function graphsOf(name: string): readonly string[] {
  return [name, join('onnx', name)];
}

function existing(folder: string, names: readonly string[]): string | undefined {
  return names.find((name) => existsSync(join(folder, name)));
}

function required(folder: string, names: readonly string[]): string {
  const found = existing(folder, names);
  if (found !== undefined) return found;
  throw new OnnxError('folder', `The folder has no file ${names.join(' and none ')}.`);
}

/** Returns a hash of everything that determines the model's vectors. */
export async function fingerprintOf(folder: string, { texts, pictures }: ModelFolder): Promise<string> {
  const hash = createHash('sha256');
  for (const name of pictures === undefined ? DECISIVE : [...DECISIVE, PREPARATION]) {
    const path = join(folder, name);
    const content = existsSync(path) ? readFileSync(path) : Buffer.alloc(0);
    hash.update(`${name}:${content.length}:`).update(content);
  }
  for (const side of [texts, pictures]) if (side !== undefined) await addGraph(hash, side.graphPath);
  return hash.digest('hex');
}

/**
 * Hashes a graph. A graph over 2 GB keeps its weights in files next to it, under names of its own choice; for the
 * common names, size and modification time are hashed.
 */
async function addGraph(hash: Hash, path: string): Promise<void> {
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  for (const ending of ['_data', '.data']) {
    const beside = statSync(path + ending, { throwIfNoEntry: false });
    if (beside !== undefined) hash.update(`${ending}:${beside.size}:${beside.mtimeMs}`);
  }
}

function optional(folder: string, name: string): object | undefined {
  const path = join(folder, name);
  if (!existsSync(path)) return undefined;
  try {
    const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof parsed === 'object' && parsed !== null) return parsed;
    throw new Error('it is no object');
  } catch (error) {
    throw new OnnxError('folder', `The file ${name} cannot be read: ${(error as Error).message}.`, error);
  }
}

function assertModulesKnown(modules: object | undefined): void {
  if (!Array.isArray(modules)) return;
  for (const each of modules as unknown[]) {
    const type = memberOf(each, 'type');
    if (typeof type !== 'string' || KNOWN_MODULES.test(type)) continue;
    throw new OnnxError(
      'folder',
      `The model has a step ${type} behind its graph (${MODULES}), which is not done here.`,
    );
  }
}

/** Returns the pooling. The default is the mean, with which most sentence models were trained. */
function poolingOf(config: object | undefined): Pooling {
  const chosen = Object.entries(config ?? {}).flatMap(([member, value]) =>
    member.startsWith('pooling_mode_') && value === true ? [member] : [],
  );
  const [member] = chosen;
  if (member === undefined) return 'mean';
  const pooling = POOLING_MEMBERS[member];
  if (chosen.length === 1 && pooling !== undefined) return pooling;
  const known = Object.keys(POOLING_MEMBERS).join(', ');
  throw new OnnxError('folder', `The file ${POOLING} asks for ${chosen.join(' and ')}; known is one of ${known}.`);
}

function tokensMaxOf(sentence: unknown, config: unknown, tokenizer: unknown): number | null {
  const said = countOf(memberOf(sentence, 'max_seq_length'));
  if (said !== null) return said;
  const limits = [memberOf(config, 'max_position_embeddings'), memberOf(tokenizer, 'model_max_length')].map(countOf);
  const known = limits.filter((each) => each !== null);
  return known.length === 0 ? null : Math.min(...known);
}

/** Returns a positive integer or null. A tokenizer without a limit states a huge number. */
function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
