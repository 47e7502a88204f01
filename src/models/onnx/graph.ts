/** The graph of a model, as ONNX Runtime runs it in this process: one text at a time, on one thread. */
import type * as Runtime from 'onnxruntime-node';
import { OnnxError } from './onnx-protocol.js';
import { pooled, type Pooling } from './pooling.js';
import type { Tokens } from './token-reader.js';

type OnnxRuntime = typeof Runtime;

export const RUNTIME_PACKAGE = 'onnxruntime-node';
/** What a graph may ask for of a text, and how it is made of the text's tokens. */
const INPUTS: Readonly<Record<string, (tokens: Tokens) => readonly number[]>> = {
  input_ids: ({ ids }) => ids,
  attention_mask: ({ ids }) => ids.map(() => 1),
  token_type_ids: ({ types }) => types,
  position_ids: ({ ids }) => ids.map((_, position) => position),
};
/** Outputs by the names that exporters give them; otherwise the first. */
const VECTOR_OUTPUTS = ['sentence_embedding', 'last_hidden_state', 'token_embeddings'];
const RELEVANCE_OUTPUTS = ['logits'];
/** The library writes to the standard error output otherwise; what it throws says the same. */
const SILENT = 4;

/** Throws an OnnxError where the package is not installed, or not for this machine. */
export async function loadRuntime(): Promise<OnnxRuntime> {
  try {
    const loaded = (await import(RUNTIME_PACKAGE)) as OnnxRuntime & { readonly default?: OnnxRuntime };
    return loaded.default ?? loaded;
  } catch (error) {
    const { message } = error as Error;
    throw new OnnxError(
      'runtime',
      `The package ${RUNTIME_PACKAGE}, which runs models of ONNX folders, is not there for this machine: npm install in Gannet's folder brings it (${message}).`,
      error,
    );
  }
}

export class Graph {
  private constructor(
    private readonly runtime: OnnxRuntime,
    private readonly session: Runtime.InferenceSession,
    private readonly types: ReadonlyMap<string, 'int64' | 'int32'>,
  ) {}

  /** Rejects with an OnnxError. */
  static async open(path: string): Promise<Graph> {
    const runtime = await loadRuntime();
    const session = await runtime.InferenceSession.create(path, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      logSeverityLevel: SILENT,
    }).catch((error: unknown) => {
      throw new OnnxError('folder', `The file model.onnx cannot be loaded: ${saidBy(error)}.`, error);
    });
    const types = new Map(
      session.inputMetadata.map((input) => {
        const type = input.isTensor ? input.type : 'sequence';
        if (INPUTS[input.name] === undefined || (type !== 'int64' && type !== 'int32')) {
          const known = Object.keys(INPUTS).join(', ');
          throw new OnnxError(
            'folder',
            `The model asks for ${input.name} (${type}): a model of texts asks for whole numbers by the names ${known}.`,
          );
        }
        return [input.name, type] as const;
      }),
    );
    return new Graph(runtime, session, types);
  }

  /** Rejects with an OnnxError. */
  async vectorOf(tokens: Tokens, pooling: Pooling): Promise<Float32Array> {
    const { data, dims } = await this.run(tokens, VECTOR_OUTPUTS);
    const [, rows = 0, width = 0] = dims;
    if (dims.length === 2) return data;
    if (dims.length === 3 && rows === tokens.ids.length) return pooled(data, width, pooling);
    throw new OnnxError('folder', `The model answers numbers of the shape ${dims.join(' × ')}, which are no vectors.`);
  }

  /** Of a pair of texts. Rejects with an OnnxError. */
  async relevanceOf(tokens: Tokens): Promise<number> {
    const { data, dims } = await this.run(tokens, RELEVANCE_OUTPUTS);
    const [first, second] = data;
    if (data.length === 1) return first as number;
    // Two classes: not relevant, and relevant.
    if (data.length === 2) return (second as number) - (first as number);
    throw new OnnxError(
      'folder',
      `The model answers numbers of the shape ${dims.join(' × ')}, which are no relevance.`,
    );
  }

  async close(): Promise<void> {
    await this.session.release();
  }

  private async run(
    tokens: Tokens,
    wanted: readonly string[],
  ): Promise<{ readonly data: Float32Array; readonly dims: readonly number[] }> {
    const feeds: Record<string, Runtime.Tensor> = {};
    for (const [name, type] of this.types) feeds[name] = this.tensor(INPUTS[name]?.(tokens) ?? [], type);
    const names = this.session.outputNames;
    const name = wanted.find((each) => names.includes(each)) ?? names[0] ?? '';
    const outputs = await this.session.run(feeds, [name]).catch((error: unknown) => {
      const detail = `The model cannot read a text of ${tokens.ids.length} tokens: ${saidBy(error)}.`;
      throw new OnnxError('text', detail, error);
    });
    const output = outputs[name] as Runtime.Tensor;
    if (output.type !== 'float32') {
      throw new OnnxError('folder', `The model answers numbers of the type ${output.type}; known is float32.`);
    }
    return { data: output.data as Float32Array, dims: output.dims };
  }

  private tensor(values: readonly number[], type: 'int64' | 'int32'): Runtime.Tensor {
    const data = type === 'int64' ? BigInt64Array.from(values, BigInt) : Int32Array.from(values);
    return new this.runtime.Tensor(type, data, [1, values.length]);
  }
}

const SAID_CHARACTERS_MAX = 200;

/** The library's own words in one line, without the folders of the machine that built it or that it runs on. */
function saidBy(error: unknown): string {
  const { message } = error as Error;
  return message
    .replace(/\/[^\s:]*\//g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .slice(0, SAID_CHARACTERS_MAX);
}
