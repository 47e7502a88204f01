/** Protocol of processes that run models of ONNX folders. */
import type { TextToEmbed } from '../../vectors/index.js';
import type { DescribedPictures } from '../embedder.js';

/** Identifies a model to a process. */
export interface OnnxModel {
  /** Absolute path. */
  readonly folder: string;
  /** Expected fingerprint. Undefined while the model is described before being added. */
  readonly fingerprint?: string;
}

export interface OnnxDescription {
  /** Length of the vectors. Null for a model without vectors. */
  readonly dimensions: number | null;
  readonly fingerprint: string;
  /** Token limit, if the folder states it. */
  readonly tokensMax: number | null;
  /** Prefixes for texts, if the folder states them. */
  readonly queryPrefix: string | null;
  readonly documentPrefix: string | null;
  readonly readsTexts: boolean;
  /** Null for a model that reads no pictures. */
  readonly pictures: DescribedPictures | null;
}

/**
 * `runtime`: the library is not installed. `folder`: a file is missing, damaged or of another kind. `changed`: the
 * model differs from the one that was added. `text`: the model gives no vector for this text or picture.
 */
export type OnnxFault = 'runtime' | 'folder' | 'changed' | 'text';

/** A fault with a sentence for the operator. */
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
      /** Pixels in the model's shape, three bytes each. */
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
  /** Token limit per text; longer texts are truncated. */
  readonly tokensMax: number;
}

export type OnnxKind = 'embedding' | 'reranker';

/** Thrown where a process refuses a request. */
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
