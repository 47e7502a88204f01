/**
 * Models that make vectors of pictures, by the name in a list's settings: the built-in descriptor, or a model of the
 * account. Main thread only.
 */
import type { PictureModel, ReadFrames, ReadPicture, SeenFrame } from '../extracts/index.js';
import { BUILT_IN_PICTURES, type PictureReader } from '../pictures/index.js';
import type { VideoFrames } from '../recordings/index.js';
import { ModelError, type ListModels, type PictureEmbedder } from '../vectors/index.js';

/**
 * Limit on the mean cosine of random pictures. The generated pictures with which a model is tried are more alike than
 * photographs.
 */
const RANDOM_MEAN_MAX = 0.5;
/** Pretends that so many pictures were measured, so that the model's own scale is used unchanged. */
const LOOKED_AT = 2000;
/** Cosine from which two frames are the same for a search. */
const SAME_FRAME = 0.9995;
/** Vectors are stored as 16-bit floats, so the same picture has slightly less than 1. */
const SAME = { mean: 0.999, deviation: 0 };

export interface PictureModelsOptions {
  readonly reader: Pick<PictureReader, 'read' | 'readPixels' | 'readToSearch' | 'readPixelsToSearch'>;
  readonly models: Pick<ListModels, 'pictures'>;
}

export class PictureModels {
  constructor(private readonly options: PictureModelsOptions) {}

  /** Undefined if there is no such model, or it reads no pictures. */
  of(account: string, name: string): PictureModel | undefined {
    if (name === BUILT_IN_PICTURES.model) return BUILT_IN_PICTURES;
    const embedder = this.options.models.pictures(account, name);
    return embedder && asPictureModel(name, embedder);
  }

  /**
   * Makes the vector of a picture. Rejects with a PictureError, a ModelError, a ServiceError or the signal's reason.
   */
  async describe(
    bytes: Uint8Array,
    { account, model }: { readonly account: string; readonly model: string },
    signal: AbortSignal,
  ): Promise<ReadPicture> {
    const { reader } = this.options;
    if (model === BUILT_IN_PICTURES.model) {
      const { width, height, vector } = await reader.read(bytes, signal);
      return { kind: 'image', width, height, vector, modelVersion: BUILT_IN_PICTURES.modelVersion };
    }
    const embedder = this.required(account, model);
    const { width, height, pixels } = await reader.readPixels(bytes, embedder.shape, signal);
    const vector = await embedder.embed(pixels, 'document', signal);
    return { kind: 'image', width, height, vector, modelVersion: embedder.version };
  }

  /** Makes the vectors of a video's frames. Rejects like `describe` and `VideoFrames.read`. */
  async describeFrames(
    frames: Pick<VideoFrames, 'read'>,
    bytes: Uint8Array,
    by: { readonly account: string; readonly model: string },
    signal: AbortSignal,
  ): Promise<ReadFrames> {
    const seen: SeenFrame[] = [];
    let modelVersion = '';
    const truncated = await frames.read(
      bytes,
      async ({ seconds, picture }) => {
        const described = await this.describe(picture, by, signal);
        // A view that lasts is kept once, with its first second.
        const last = described.modelVersion === modelVersion ? seen.at(-1) : undefined;
        modelVersion = described.modelVersion;
        if (last === undefined || cosineOf(last.vector, described.vector) < SAME_FRAME)
          seen.push({ seconds, vector: described.vector });
      },
      signal,
    );
    return { kind: 'frames', frames: seen, modelVersion, truncated };
  }

  /** Makes the vector for a search. Rejects like `describe`, and with `overloaded`. */
  async vectorToSearch(
    bytes: Uint8Array,
    {
      account,
      model,
      modelVersion,
    }: { readonly account: string; readonly model: string; readonly modelVersion: string },
    signal: AbortSignal,
  ): Promise<Float32Array> {
    const { reader } = this.options;
    if (model === BUILT_IN_PICTURES.model) return (await reader.readToSearch(bytes, signal)).vector;
    const embedder = this.required(account, model);
    if (embedder.version !== modelVersion)
      throw new ModelError(`The model '${model}' is another one than the list's pictures were read with.`, OTHER);
    const { pixels } = await reader.readPixelsToSearch(bytes, embedder.shape, signal);
    return embedder.embed(pixels, 'query', signal);
  }

  private required(account: string, name: string): PictureEmbedder {
    const embedder = this.options.models.pictures(account, name);
    if (embedder !== undefined) return embedder;
    throw new ModelError(`There is no model '${name}' that reads pictures.`, OTHER);
  }
}

/** Returns the cosine of two vectors of length 1. */
function cosineOf(one: Float32Array, other: Float32Array): number {
  return one.reduce((sum, value, at) => sum + value * (other[at] ?? 0), 0);
}

const OTHER = { retry: 'later', reason: 'unavailable' } as const;

function asPictureModel(model: string, { version, dimensions, random }: PictureEmbedder): PictureModel {
  const { mean, deviation } = random;
  return {
    model,
    modelVersion: version,
    dimensions,
    calibration: {
      vectorCount: LOOKED_AT,
      random: { mean: Math.min(RANDOM_MEAN_MAX, mean), deviation },
      nearest: SAME,
    },
  };
}
