/**
 * Reads how a model wants its pictures prepared, from its folder's `preprocessor_config.json`, in the format of the
 * image processors of transformers.
 */
import type { PictureShape, ResizeKernel } from '../../vectors/index.js';
import { memberOf } from '../checked-answers.js';
import { OnnxError } from './onnx-protocol.js';

export const PREPARATION = 'preprocessor_config.json';
const CHANNELS = 3;
const BYTE_MAX = 255;
const SIDE_MAX = 2048;
const BICUBIC = 3;
const KERNELS: Readonly<Record<number, ResizeKernel>> = { 0: 'nearest', 1: 'lanczos3', 2: 'linear', 3: 'cubic' };
/** Steps that change the numbers and are not implemented. */
const UNKNOWN_STEPS = ['do_pad', 'rescale_offset', 'do_reduce_labels', 'do_flip_channel_order', 'crop_pct'];

export interface PicturePreparation {
  readonly shape: PictureShape;
  /** The model's input for a byte, by colour: `byte * factors[colour] + offsets[colour]`. */
  readonly factors: readonly number[];
  readonly offsets: readonly number[];
}

/** Throws an OnnxError that names what is not supported. */
export function preparationOf(config: object): PicturePreparation {
  const step = UNKNOWN_STEPS.find((name) => !isOff(memberOf(config, name)));
  if (step !== undefined) throw unknown(`has the step ${step}, which is not done here`);
  const rescale = memberOf(config, 'do_rescale') === false ? 1 : numberOf(config, 'rescale_factor', 1 / BYTE_MAX);
  const isNormalized = memberOf(config, 'do_normalize') !== false;
  const means = isNormalized ? numbersOf(config, 'image_mean') : [0, 0, 0];
  const deviations = isNormalized ? numbersOf(config, 'image_std') : [1, 1, 1];
  if (deviations.some((deviation) => deviation <= 0)) throw unknown('has a number in image_std that is not above 0');
  return {
    shape: shapeOf(config),
    factors: deviations.map((deviation) => rescale / deviation),
    offsets: deviations.map((deviation, colour) => -(means[colour] ?? 0) / deviation),
  };
}

function shapeOf(config: object): PictureShape {
  if (memberOf(config, 'do_resize') === false) throw unknown('changes no sizes (do_resize), and pictures have any');
  const resample = memberOf(config, 'resample') ?? BICUBIC;
  const kernel = KERNELS[resample as number];
  if (kernel === undefined)
    throw unknown(`has the resample ${JSON.stringify(resample)}; known are ${Object.keys(KERNELS).join(', ')}`);
  const size = memberOf(config, 'size');
  const whole = boxOf(size);
  if (memberOf(config, 'do_center_crop') !== true) {
    if (whole !== undefined) return { ...whole, shortSide: null, kernel };
    throw unknown('has a size without height and width, and no do_center_crop: models are given one size alone');
  }
  const crop = boxOf(memberOf(config, 'crop_size'));
  if (crop === undefined) throw unknown('has no crop_size that is a number, or a height and a width');
  const shortSide = sideOf(memberOf(size, 'shortest_edge')) ?? sideOf(size);
  if (shortSide !== undefined) {
    if (Math.max(crop.width, crop.height) <= shortSide) return { ...crop, shortSide, kernel };
    throw unknown('has a crop_size beyond the short side of its size');
  }
  if (whole?.width === crop.width && whole.height === crop.height) return { ...whole, shortSide: null, kernel };
  throw unknown('has a size that is neither a number, nor a shortest_edge, nor what crop_size is');
}

function boxOf(size: unknown): { readonly width: number; readonly height: number } | undefined {
  const side = sideOf(size);
  if (side !== undefined) return { width: side, height: side };
  const [width, height] = [sideOf(memberOf(size, 'width')), sideOf(memberOf(size, 'height'))];
  return width === undefined || height === undefined ? undefined : { width, height };
}

function sideOf(value: unknown): number | undefined {
  if (!Number.isSafeInteger(value)) return undefined;
  const side = value as number;
  if (side < 1 || side > SIDE_MAX) throw unknown(`has a side of ${side} pixels; 1 to ${SIDE_MAX} are known`);
  return side;
}

function numberOf(config: object, name: string, otherwise: number): number {
  const value = memberOf(config, name) ?? otherwise;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw unknown(`has a ${name} that is no number`);
}

function numbersOf(config: object, name: string): readonly number[] {
  const value = memberOf(config, name);
  const isKnown =
    Array.isArray(value) &&
    value.length === CHANNELS &&
    value.every((each) => typeof each === 'number' && Number.isFinite(each));
  if (isKnown) return value as number[];
  throw unknown(`has no ${name} of ${CHANNELS} numbers`);
}

function isOff(value: unknown): boolean {
  return value === undefined || value === null || value === false;
}

function unknown(what: string): OnnxError {
  return new OnnxError('folder', `The file ${PREPARATION} ${what}.`);
}
