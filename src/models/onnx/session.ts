/** A graph loaded in ONNX Runtime in this process, run on one input at a time on one thread. */
import type * as Runtime from 'onnxruntime-node';
import { OnnxError } from './onnx-protocol.js';

export type OnnxRuntime = typeof Runtime;

const RUNTIME_PACKAGE = 'onnxruntime-node';
/** Log level that keeps the library from writing to standard error; its exceptions say the same. */
const SILENT = 4;
const SAID_CHARACTERS_MAX = 200;

/** Input of a graph. `type` is the library's name; `shape` has numbers for known sizes. */
export interface GraphInput {
  readonly name: string;
  readonly type: string;
  readonly shape: readonly (number | string)[];
}

export interface Numbers {
  readonly data: Float32Array;
  readonly dims: readonly number[];
}

/** Throws an OnnxError if the package is not installed, or not for this machine. */
async function loadRuntime(): Promise<OnnxRuntime> {
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

export class Session {
  readonly inputs: readonly GraphInput[];

  private constructor(
    readonly runtime: OnnxRuntime,
    private readonly session: Runtime.InferenceSession,
  ) {
    this.inputs = session.inputMetadata.map((input) =>
      input.isTensor
        ? { name: input.name, type: input.type, shape: input.shape }
        : { name: input.name, type: 'sequence', shape: [] },
    );
  }

  /** Rejects with an OnnxError that names the file. */
  static async open(path: string): Promise<Session> {
    const runtime = await loadRuntime();
    const session = await runtime.InferenceSession.create(path, {
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      executionMode: 'sequential',
      logSeverityLevel: SILENT,
    }).catch((error: unknown) => {
      throw new OnnxError('folder', `The file ${fileOf(path)} cannot be loaded: ${saidBy(error)}.`, error);
    });
    return new Session(runtime, session);
  }

  /**
   * Returns the first output with one of the wanted names, or else the graph's first output. `what` describes the input
   * in the message of an OnnxError.
   */
  async run(feeds: Record<string, Runtime.Tensor>, wanted: readonly string[], what: string): Promise<Numbers> {
    const names = this.session.outputNames;
    const name = wanted.find((each) => names.includes(each)) ?? names[0] ?? '';
    const outputs = await this.session.run(feeds, [name]).catch((error: unknown) => {
      throw new OnnxError('text', `The model cannot read ${what}: ${saidBy(error)}.`, error);
    });
    const output = outputs[name] as Runtime.Tensor;
    if (output.type !== 'float32') {
      throw new OnnxError('folder', `The model answers numbers of the type ${output.type}; known is float32.`);
    }
    return { data: output.data as Float32Array, dims: output.dims };
  }

  async close(): Promise<void> {
    await this.session.release();
  }
}

export function noVectors({ dims }: Numbers): OnnxError {
  return new OnnxError('folder', `The model answers numbers of the shape ${dims.join(' × ')}, which are no vectors.`);
}

function fileOf(path: string): string {
  return path.replace(/^.*[/\\]/, '');
}

/** Returns the library's message in one line, without paths of the machine it was built on or runs on. */
function saidBy(error: unknown): string {
  const { message } = error as Error;
  return message
    .replace(/\/[^\s:]*\//g, '')
    .replace(/\s+/g, ' ')
    .trim()
    .replace(/\.$/, '')
    .slice(0, SAID_CHARACTERS_MAX);
}
