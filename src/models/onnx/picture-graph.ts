/** Runs the graph of a picture model with ONNX Runtime in this process: one picture at a time, on one thread. */
import type { PictureShape } from '../../vectors/index.js';
import { OnnxError } from './onnx-protocol.js';
import type { PicturePreparation } from './picture-preparation.js';
import { pooled } from './pooling.js';
import { noVectors, Session } from './session.js';

const CHANNELS = 3;
/** Dimensions of the input: batch, and three of the picture. */
const PICTURE_AXES = 4;
/** Names that exporters give to the outputs. Without any of them, the first output is used. */
const OUTPUTS = ['image_embeds', 'image_embeddings', 'pooler_output', 'last_hidden_state'];

export class PictureGraph {
  private constructor(
    private readonly session: Session,
    private readonly input: string,
    /** True if the input is planar (all numbers of a colour together), false if it is interleaved by pixel. */
    private readonly isByColour: boolean,
    private readonly preparation: PicturePreparation,
  ) {}

  /** Rejects with an OnnxError. */
  static async open(path: string, preparation: PicturePreparation): Promise<PictureGraph> {
    const session = await Session.open(path);
    const [input, ...others] = session.inputs;
    if (input === undefined || others.length > 0) {
      const names = session.inputs.map(({ name }) => name).join(', ');
      throw new OnnxError(
        'folder',
        `The model of pictures asks for ${names}, and is given pixels alone: one that reads texts, too, has the files vision_model.onnx and text_model.onnx.`,
      );
    }
    const { name, type, shape } = input;
    const isByColour = shape[1] === CHANNELS || shape[PICTURE_AXES - 1] !== CHANNELS;
    if (type !== 'float32' || shape.length !== PICTURE_AXES) {
      throw new OnnxError(
        'folder',
        `The model of pictures asks for ${name} (${type}, ${shape.length} axes): known are float32 numbers of four axes.`,
      );
    }
    return new PictureGraph(session, name, isByColour, preparation);
  }

  get shape(): PictureShape {
    return this.preparation.shape;
  }

  /** Returns the vector of pixels in the model's shape, three bytes each. Rejects with an OnnxError. */
  async vectorOf(pixels: Uint8Array): Promise<Float32Array> {
    const { width, height } = this.preparation.shape;
    if (pixels.length !== CHANNELS * width * height)
      throw new OnnxError('folder', `The model wants pictures of ${width} × ${height} pixels now, and had others.`);
    const dims = this.isByColour ? [1, CHANNELS, height, width] : [1, height, width, CHANNELS];
    const tensor = new this.session.runtime.Tensor('float32', this.numbersOf(pixels), dims);
    const answer = await this.session.run(
      { [this.input]: tensor },
      OUTPUTS,
      `a picture of ${width} × ${height} pixels`,
    );
    const vector = vectorIn(answer.data, answer.dims);
    if (vector === undefined) throw noVectors(answer);
    return vector;
  }

  async close(): Promise<void> {
    await this.session.close();
  }

  private numbersOf(pixels: Uint8Array): Float32Array {
    const { factors, offsets } = this.preparation;
    const count = pixels.length / CHANNELS;
    const numbers = new Float32Array(pixels.length);
    for (let colour = 0; colour < CHANNELS; colour++) {
      const [factor, offset] = [factors[colour] as number, offsets[colour] as number];
      for (let pixel = 0; pixel < count; pixel++) {
        const at = pixel * CHANNELS + colour;
        numbers[this.isByColour ? colour * count + pixel : at] = (pixels[at] as number) * factor + offset;
      }
    }
    return numbers;
  }
}

/**
 * Returns the vector in the output: a single row as it is; of patch states the first, which represents the whole
 * picture; of feature maps the mean of each.
 */
function vectorIn(data: Float32Array, dims: readonly number[]): Float32Array | undefined {
  const [batch, second = 0, third = 0] = dims;
  if (batch !== 1) return undefined;
  if (dims.length === 2) return data;
  if (dims.length === 3) return pooled(data, third, 'cls');
  if (dims.length !== PICTURE_AXES || second === 0) return undefined;
  const each = data.length / second;
  return Float32Array.from({ length: second }, (_, map) =>
    data.subarray(map * each, (map + 1) * each).reduce((sum, value) => sum + value / each, 0),
  );
}
