/** What is asked of a process that runs models of ONNX folders. */
import type { TextToEmbed } from '../../vectors/index.js';
import type { DescribedPictures } from '../embedder.js';

/** A model as such a process is told of it. */
export interface OnnxModel {
  /** Absolute. */
  readonly folder: string;
  /** Of what it has to be; undefined: it is being looked at. */
  readonly fingerprint?: string;
}

export interface OnnxDescription {
  /** Of its vectors; null of a model that has none. */
  readonly dimensions: number | null;
  readonly fingerprint: string;
  /** The most tokens that it reads, as far as the folder says so. */
  readonly tokensMax: number | null;
  /** Put before texts, where the folder says so. */
  readonly queryPrefix: string | null;
  readonly documentPrefix: string | null;
  readonly readsTexts: boolean;
  /** Null of a model that reads no pictures. */
  readonly pictures: DescribedPictures | null;
}

/**
 * `runtime`: the library is not there. `folder`: a file is missing, damaged or of another kind. `changed`: it is another model than the one
 * that was added. `text`: of this text or picture it gives no vector.
 */
export type OnnxFault = 'runtime' | 'folder' | 'changed' | 'text';

/** A fault with a sentence for whoever runs the service. */
export interface OnnxRefusal {
  readonly fault: OnnxFault;
  readonly detail: string;
}

export interface OnnxProtocol {
  readonly questions: {
    readonly describe: {
      readonly ask: { readonly model: OnnxModel; readonly kind: OnnxKind; readonly tokensMax: number | null };
      readonly answer: OnnxDescription | OnnxRefusal;
    };
    readonly passages: {
      readonly ask: Asked & { readonly texts: readonly TextToEmbed[]; readonly prefix: string };
      readonly answer: { readonly passages: readonly (readonly string[])[] } | OnnxRefusal;
    };
    readonly embed: {
      readonly ask: Asked & { readonly texts: readonly string[] };
      readonly answer: { readonly vectors: readonly Float32Array[] } | OnnxRefusal;
    };
    readonly embedPicture: {
      /** Pixels as the model wants them, three bytes each. */
      readonly ask: { readonly model: OnnxModel; readonly pixels: Uint8Array };
      readonly answer: { readonly vector: Float32Array } | OnnxRefusal;
    };
    readonly relevances: {
      readonly ask: Asked & { readonly query: string; readonly documents: readonly string[] };
      readonly answer: { readonly relevances: readonly number[] } | OnnxRefusal;
    };
  };
  readonly notices: { readonly load: OnnxModel };
  readonly events: Record<never, never>;
}

interface Asked {
  readonly model: OnnxModel;
  /** Of one text; what is longer is cut off. */
  readonly tokensMax: number;
}

export type OnnxKind = 'embedding' | 'reranker';

/** Throws what a process of models answers where it cannot do what it is asked. */
export class OnnxError extends Error {
  override readonly name = 'OnnxError';
  constructor(
    readonly fault: OnnxFault,
    detail: string,
    cause?: unknown,
  ) {
    super(detail, { cause });
  }
}
