/** Runs the graph of a text model with ONNX Runtime in this process: one text at a time, on one thread. */
import type * as Runtime from 'onnxruntime-node';
import { OnnxError } from './onnx-protocol.js';
import { pooled, type Pooling } from './pooling.js';
import { noVectors, Session } from './session.js';
import type { Tokens } from './token-reader.js';

/** Inputs that a graph may have, and how they are made from a text's tokens. */
const INPUTS: Readonly<Record<string, (tokens: Tokens) => readonly number[]>> = {
  input_ids: ({ ids }) => ids,
  attention_mask: ({ ids }) => ids.map(() => 1),
  token_type_ids: ({ types }) => types,
  position_ids: ({ ids }) => ids.map((_, position) => position),
};
/** Names that exporters give to the outputs. Without any of them, the first output is used. */
const VECTOR_OUTPUTS = ['text_embeds', 'sentence_embedding', 'last_hidden_state', 'token_embeddings'];
const RELEVANCE_OUTPUTS = ['logits'];

export class Graph {
  private constructor(
    private readonly session: Session,
    private readonly types: ReadonlyMap<string, 'int64' | 'int32'>,
  ) {}

  /** Rejects with an OnnxError. */
  static async open(path: string): Promise<Graph> {
    const session = await Session.open(path);
    const types = new Map(
      session.inputs.map(({ name, type }) => {
        if (INPUTS[name] === undefined || (type !== 'int64' && type !== 'int32')) {
          const known = Object.keys(INPUTS).join(', ');
          throw new OnnxError(
            'folder',
            `The model asks for ${name} (${type}): a model of texts asks for whole numbers by the names ${known}.`,
          );
        }
        return [name, type] as const;
      }),
    );
    return new Graph(session, types);
  }

  /** Without a mask that marks padding, the graph needs texts of the length with which it was trained. */
  get hasMask(): boolean {
    return this.types.has('attention_mask');
  }

  /** Returns the vector of a text. Rejects with an OnnxError. */
  async vectorOf(tokens: Tokens, pooling: Pooling): Promise<Float32Array> {
    const answer = await this.run(tokens, VECTOR_OUTPUTS);
    const { data, dims } = answer;
    const [, rows = 0, width = 0] = dims;
    if (dims.length === 2) return data;
    if (dims.length === 3 && rows === tokens.ids.length) return pooled(data, width, pooling);
    throw noVectors(answer);
  }

  /** Returns the relevance of a pair of texts. Rejects with an OnnxError. */
  async relevanceOf(tokens: Tokens): Promise<number> {
    const { data, dims } = await this.run(tokens, RELEVANCE_OUTPUTS);
    const [first, second] = data;
    if (data.length === 1) return first as number;
    // Logits of two classes: not relevant, and relevant.
    if (data.length === 2) return (second as number) - (first as number);
    throw new OnnxError(
      'folder',
      `The model answers numbers of the shape ${dims.join(' × ')}, which are no relevance.`,
    );
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  private run(tokens: Tokens, wanted: readonly string[]) {
    const feeds: Record<string, Runtime.Tensor> = {};
    for (const [name, type] of this.types) feeds[name] = this.tensor(INPUTS[name]?.(tokens) ?? [], type);
    return this.session.run(feeds, wanted, `a text of ${tokens.ids.length} tokens`);
  }

  private tensor(values: readonly number[], type: 'int64' | 'int32'): Runtime.Tensor {
    const data = type === 'int64' ? int64sOf(values) : Int32Array.from(values);
    return new this.session.runtime.Tensor(type, data, [1, values.length]);
  }
}

/** Uses a loop: `BigInt64Array.from` with a function takes several times as long. */
function int64sOf(values: readonly number[]): BigInt64Array {
  const data = new BigInt64Array(values.length);
  for (let index = 0; index < data.length; index++) data[index] = BigInt(values[index] as number);
  return data;
}
