/**
 * Writes folders with small models, whose graphs are generated: the state of a token is a vector derived from its
 * number, and the relevance of a text is the mean of numbers of its tokens.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { OnnxOptions } from '../../src/models/model-providers.js';
import { ATTRIBUTE_INT, ATTRIBUTE_INTS, FLOAT, INT64, message, node, onnxModel, table, tensor } from './onnx-bytes.js';
import { hashedVector } from './scripted-models.js';

export const ONNX_OPTIONS: OnnxOptions = {
  folders: '',
  recordProcesses: 2,
  searchProcesses: 1,
  memoryMibMax: 1024,
  onDeath: () => undefined,
  onBug: (stack) => process.stderr.write(`${stack}\n`),
};

export const ONNX_DIMENSIONS = 8;
/** Positions of the graphs; longer texts make them fail. */
export const ONNX_TOKENS_MAX = 64;
/** Word whose state is NaN. */
export const BAD_WORD = 'nan';

const SPECIAL = ['[PAD]', '[UNK]', '[CLS]', '[SEP]'];
const CHARACTERS = [...'abcdefghijklmnopqrstuvwxyz0123456789.,:'];
/** Every word consists of tokens for its characters. */
export const VOCABULARY = [...SPECIAL, BAD_WORD, ...CHARACTERS, ...CHARACTERS.map((character) => `##${character}`)];

export interface OnnxFolderOptions {
  readonly kind?: 'embedding' | 'reranker';
  readonly dimensions?: number;
  /** Models with different seeds have different states. */
  readonly seed?: string;
  /** Inputs of the graph besides the tokens. */
  readonly inputs?: readonly string[];
}

/** Writes `tokenizer.json`, `model.onnx` and `config.json`. */
export function writeOnnxFolder(folder: string, options: OnnxFolderOptions = {}): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify(tokenizer()));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ max_position_embeddings: ONNX_TOKENS_MAX }));
  writeFileSync(join(folder, 'model.onnx'), graph(options));
}

/** Returns the state of a token in a model with this seed. */
export function stateOf(token: string, dimensions = ONNX_DIMENSIONS, seed = ''): Float32Array {
  return token === BAD_WORD ? new Float32Array(dimensions).fill(NaN) : hashedVector(seed + token, dimensions);
}

/** Members of a tokenizer's file: how BERT's models normalise and split a text. */
export const BERT_READING = {
  normalizer: {
    type: 'BertNormalizer',
    clean_text: true,
    handle_chinese_chars: true,
    strip_accents: null,
    lowercase: true,
  },
  pre_tokenizer: { type: 'BertPreTokenizer' },
};

/** Returns a tokenizer that splits words into characters, except for the vocabulary's words. */
export function tokenizer(vocabulary: readonly string[] = VOCABULARY): object {
  const special = (token: string, type_id = 0) => ({ SpecialToken: { id: token, type_id } });
  const sequence = (id: string, type_id: number) => ({ Sequence: { id, type_id } });
  const idOf = (token: string) => vocabulary.indexOf(token);
  const ofTemplate = (token: string) => [token, { id: token, ids: [idOf(token)], tokens: [token] }] as const;
  return {
    version: '1.0',
    // Present in many tokenizers, but to be ignored.
    truncation: { direction: 'Right', max_length: 8, strategy: 'LongestFirst', stride: 0 },
    padding: { strategy: { Fixed: 8 }, direction: 'Right', pad_id: 0, pad_type_id: 0, pad_token: '[PAD]' },
    added_tokens: SPECIAL.map((content, id) => ({
      id,
      content,
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
      special: true,
    })),
    ...BERT_READING,
    post_processor: {
      type: 'TemplateProcessing',
      single: [special('[CLS]'), sequence('A', 0), special('[SEP]')],
      pair: [special('[CLS]'), sequence('A', 0), special('[SEP]'), sequence('B', 1), special('[SEP]', 1)],
      special_tokens: Object.fromEntries(['[CLS]', '[SEP]'].map(ofTemplate)),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
    },
  };
}

/** Embedding graph: states of tokens, plus zero per position. Reranker graph: the mean of the first numbers. */
function graph({
  kind = 'embedding',
  dimensions = ONNX_DIMENSIONS,
  seed = '',
  inputs = [],
}: OnnxFolderOptions): Uint8Array {
  const width = kind === 'reranker' ? 1 : dimensions;
  const states = VOCABULARY.map((token) => stateOf(token, dimensions, seed).slice(0, width));
  const positions = Array.from({ length: ONNX_TOKENS_MAX }, () => new Float32Array(width));
  const axes = message([1, 'axes'], [8, 1], [20, ATTRIBUTE_INTS]);
  const flat = message([1, 'keepdims'], [3, 0], [20, ATTRIBUTE_INT]);
  const nodes = [
    node('Gather', ['states', 'input_ids'], 'state'),
    node('Gather', ['positions', 'position_ids'], 'position'),
    node('Add', ['state', 'position'], 'last_hidden_state'),
    ...(kind === 'reranker' ? [node('ReduceMean', ['last_hidden_state'], 'logits', [axes, flat])] : []),
  ];
  const output =
    kind === 'reranker'
      ? tensor('logits', FLOAT, ['batch', 1])
      : tensor('last_hidden_state', FLOAT, ['batch', 'tokens', dimensions]);
  const asked = ['input_ids', 'position_ids', ...inputs];
  return onnxModel({
    nodes,
    tables: [table('states', states), table('positions', positions)],
    inputs: asked.map((name) => tensor(name, INT64, ['batch', 'tokens'])),
    output,
  });
}
