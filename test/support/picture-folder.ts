/**
 * Writes folders with small picture models: the vector of a picture is its mean colour, and that of a text the mean of
 * the colours it names, each from -1 to 1. Middle grey is the zero vector.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { ATTRIBUTE_INT, ATTRIBUTE_INTS, FLOAT, INT64, message, node, onnxModel, table, tensor } from './onnx-bytes.js';
import { tokenizer, VOCABULARY } from './onnx-folder.js';

/** Side of the graph's input in pixels. */
export const PICTURE_SIDE = 16;
export const PICTURE_DIMENSIONS = 3;

/** RGB values of the colours that texts may name. */
export const COLOURS = {
  red: [255, 0, 0],
  green: [0, 255, 0],
  blue: [0, 0, 255],
  yellow: [255, 255, 0],
} as const;
export type Colour = keyof typeof COLOURS;
const NAMES = Object.keys(COLOURS) as Colour[];
const WORDS = [...VOCABULARY, ...NAMES];

export const PREPARATION = {
  do_resize: true,
  size: { shortest_edge: PICTURE_SIDE },
  resample: 3,
  do_center_crop: true,
  crop_size: { height: PICTURE_SIDE, width: PICTURE_SIDE },
  do_rescale: true,
  rescale_factor: 1 / 255,
  do_normalize: true,
  image_mean: [0.5, 0.5, 0.5],
  image_std: [0.5, 0.5, 0.5],
};

export interface PictureFolderOptions {
  /** True if it also reads texts. Default true. */
  readonly readsTexts?: boolean;
  /** Dimensions of text vectors, if they differ, which makes them incomparable with pictures. */
  readonly textDimensions?: number;
  readonly preparation?: object;
  /** Factor of all vectors: makes another model with the same cosines. */
  readonly times?: number;
  /** True if the input is interleaved by pixel. */
  readonly byPixel?: boolean;
}

/**
 * Writes `preprocessor_config.json`, and either `model.onnx` or `vision_model.onnx`, `text_model.onnx` and
 * `tokenizer.json`.
 */
export function writePictureFolder(folder: string, options: PictureFolderOptions = {}): void {
  const { readsTexts = true, textDimensions = PICTURE_DIMENSIONS, preparation = PREPARATION, times = 1 } = options;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'preprocessor_config.json'), JSON.stringify(preparation));
  const pictures = pictureGraph(times, options.byPixel === true);
  if (!readsTexts) {
    writeFileSync(join(folder, 'model.onnx'), pictures);
    return;
  }
  writeFileSync(join(folder, 'vision_model.onnx'), pictures);
  writeFileSync(join(folder, 'text_model.onnx'), textGraph(textDimensions));
  writeFileSync(join(folder, 'tokenizer.json'), JSON.stringify({ ...tokenizer(WORDS), padding: null }));
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ max_position_embeddings: 32 }));
}

/** Returns a file with a picture of one colour and a little of another. */
export function pictureOf(
  colour: readonly [number, number, number],
  { width = 60, height = 40 } = {},
): Promise<Buffer> {
  const [r, g, b] = colour;
  return sharp({ create: { width, height, channels: 3, background: { r, g, b } } })
    .png()
    .toBuffer();
}

function pictureGraph(times: number, byPixel: boolean): Uint8Array {
  const axes = message([1, 'axes'], ...(byPixel ? [1, 2] : [2, 3]).map((axis) => [8, axis] as const), [
    20,
    ATTRIBUTE_INTS,
  ]);
  const flat = message([1, 'keepdims'], [3, 0], [20, ATTRIBUTE_INT]);
  const side = PICTURE_SIDE;
  return onnxModel({
    nodes: [node('ReduceMean', ['pixel_values'], 'mean', [axes, flat]), node('Mul', ['mean', 'times'], 'image_embeds')],
    tables: [table('times', [Float32Array.of(times)])],
    inputs: [tensor('pixel_values', FLOAT, byPixel ? ['batch', side, side, 3] : ['batch', 3, side, side])],
    output: tensor('image_embeds', FLOAT, ['batch', PICTURE_DIMENSIONS]),
  });
}

/** Words that are not colours have a vector that differs from all colours. */
function textGraph(dimensions: number): Uint8Array {
  const states = WORDS.map((word) => {
    const colour = COLOURS[word as Colour] as readonly number[] | undefined;
    const around = word.startsWith('[') && word !== '[UNK]';
    return Float32Array.from({ length: dimensions }, (_, at) => {
      if (around) return 0;
      return colour === undefined ? ([1, -0.2, 0.9][at % 3] ?? 0) : (colour[at] ?? 0) / 127.5 - 1;
    });
  });
  const axes = message([1, 'axes'], [8, 1], [20, ATTRIBUTE_INTS]);
  const flat = message([1, 'keepdims'], [3, 0], [20, ATTRIBUTE_INT]);
  return onnxModel({
    nodes: [
      node('Gather', ['states', 'input_ids'], 'state'),
      node('ReduceMean', ['state'], 'text_embeds', [axes, flat]),
    ],
    tables: [table('states', states)],
    inputs: [tensor('input_ids', INT64, ['batch', 'tokens'])],
    output: tensor('text_embeds', FLOAT, ['batch', dimensions]),
  });
}
