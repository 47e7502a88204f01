/**
 * Picture models in ONNX folders: how a folder describes its model, what models make of pictures, and what is reported
 * about unusable folders.
 */
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeOnnxFolder } from '../../../test/support/onnx-folder.js';
import { openedModels } from '../../../test/support/opened-models.js';
import {
  PICTURE_DIMENSIONS,
  PICTURE_SIDE,
  PREPARATION,
  writePictureFolder,
  type Colour,
  COLOURS,
} from '../../../test/support/picture-folder.js';
import { openEnvironment, type LmdbEnvironment } from '../../platform/index.js';
import type { PictureEmbedder } from '../../vectors/index.js';
import type { Models } from '../models.js';
import type { Model } from '../types.js';
import { OnnxError } from './onnx-protocol.js';
import { preparationOf } from './picture-preparation.js';

const MODEL = 'seen';
let folder: string;
let environment: LmdbEnvironment;
let models: Models;

function opened(): Models {
  return openedModels({ folder, environment });
}

function add(kind: Model['kind'] = 'embedding'): Promise<Model> {
  return models.add({
    account: 'default',
    name: MODEL,
    provider: 'onnx',
    kind,
    dimensions: null,
    tokens_max: null,
    query_prefix: null,
    document_prefix: null,
    folder: null,
    url: null,
    served_name: null,
    requests_per_minute: null,
    tokens_per_minute: null,
    secret: null,
  });
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-seen-'));
  environment = openEnvironment(join(folder, 'system'), { kind: 'system' });
  models = opened();
});
afterEach(async () => {
  await models.close();
  await environment.close();
  rmSync(folder, { recursive: true, force: true });
});

const path = () => join(folder, MODEL);
const pictures = () => models.pictures('default', MODEL) as PictureEmbedder;
const pixelsOf = (colour: Colour) =>
  Uint8Array.from({ length: PICTURE_SIDE * PICTURE_SIDE * 3 }, (_, at) => COLOURS[colour][at % 3] ?? 0);
const refused = (why: string) => ({ code: 'unprocessable', detail: expect.stringContaining(why) as string });
const unit = (vector: readonly number[]) => vector.map((value) => value / Math.hypot(...vector));

function expectSame(vector: Float32Array | undefined, values: readonly number[]): void {
  expect(vector).toHaveLength(values.length);
  for (const [at, value] of values.entries()) expect(vector?.[at]).toBeCloseTo(value, 5);
}

describe('a model of pictures and texts', () => {
  it('is added with its properties, and its vectors of both can be compared', async () => {
    writePictureFolder(path());
    expect(await add()).toMatchObject({ inputs: ['text', 'image'], dimensions: PICTURE_DIMENSIONS, tokens_max: 32 });
    expect(pictures().shape).toEqual({ width: 16, height: 16, shortSide: 16, kernel: 'cubic' });
    expectSame(await pictures().embed(pixelsOf('red'), 'document'), unit([1, -1, -1]));
    const [red] = (await pictures().words?.embedder.embed(['red'], 'query')) ?? [];
    expectSame(red, unit([1, -1, -1]));
    const { mean, deviation } = pictures().words?.random ?? { mean: NaN, deviation: NaN };
    expect([Math.abs(mean) < 1, deviation > 0, deviation < 1]).toEqual([true, true, true]);
    expect(models.knows('default', MODEL)).toBe(true);
    // What is stored about it is known after a start without a process.
    await models.close();
    const before = pictures();
    models = opened();
    expect(pictures()).toMatchObject({ version: before.version, shape: before.shape, random: before.random });
  });

  it('can be for pictures only, with the colours of each pixel together', async () => {
    writePictureFolder(path(), { readsTexts: false, byPixel: true });
    expect(await add()).toMatchObject({ inputs: ['image'], dimensions: PICTURE_DIMENSIONS });
    expect(pictures().words).toBeUndefined();
    expectSame(await pictures().embed(pixelsOf('yellow'), 'query'), unit([1, 1, -1]));
    expect(models.knows('default', MODEL)).toBe(false);
    expect(models.embedder('default', MODEL)).toBeUndefined();
    expect(models.attached({ account: 'default', model: MODEL })).toBeUndefined();
  });

  it('whose files have changed is unavailable until it is updated, and has another version then', async () => {
    writePictureFolder(path());
    await add();
    const { version } = pictures();
    await models.close();
    writePictureFolder(path(), { times: 2 });
    models = opened();
    await expect(pictures().embed(pixelsOf('red'), 'document')).rejects.toThrow('gannet model update');
    await models.change('default', MODEL, {});
    expect(pictures().version).not.toBe(version);
    expectSame(await pictures().embed(pixelsOf('red'), 'document'), unit([1, -1, -1]));
    const changed = pictures().version;
    // A prefix is only for texts, so vectors of pictures do not change.
    await models.change('default', MODEL, { query_prefix: 'a photo of ' });
    expect(pictures().version).toBe(changed);
  });

  it('returns no vector without a direction, but an error', async () => {
    writePictureFolder(path(), { preparation: { ...PREPARATION, rescale_factor: 1 / 254 } });
    await add();
    const grey = new Uint8Array(PICTURE_SIDE * PICTURE_SIDE * 3).fill(127);
    await expect(pictures().embed(grey, 'document')).rejects.toMatchObject({ reason: 'bad-answer' });
    await expect(pictures().embed(new Uint8Array(3), 'document')).rejects.toThrow('16 × 16 pixels');
  });

  it('whose folder disappears is reported so, and works again when it is back', async () => {
    writePictureFolder(path());
    await add();
    await models.close();
    models = opened();
    renameSync(path(), join(folder, 'away'));
    await expect(pictures().embed(pixelsOf('red'), 'document')).rejects.toMatchObject({ retry: 'later' });
    expect(models.state(models.required('default', MODEL))).toMatchObject({ state: 'unavailable' });
    renameSync(join(folder, 'away'), path());
    expectSame(await pictures().embed(pixelsOf('blue'), 'document'), unit([-1, -1, 1]));
  });
});

describe('the folder of a picture model', () => {
  const damages: readonly (readonly [what: string, damage: () => void, why: string])[] = [
    [
      'has no word on how pictures are prepared',
      () => rmSync(join(path(), 'preprocessor_config.json')),
      'vision_model.onnx, and no file preprocessor_config.json',
    ],
    ['has no tokenizer', () => rmSync(join(path(), 'tokenizer.json')), 'no file tokenizer.json'],
    [
      'has a graph of both, which wants both at once',
      () => {
        rmSync(join(path(), 'vision_model.onnx'));
        writeOnnxFolder(path(), { inputs: ['pixel_values'] });
      },
      'vision_model.onnx and text_model.onnx',
    ],
    [
      'has texts of other dimensions',
      () => writePictureFolder(path(), { textDimensions: 5 }),
      '5 dimensions for texts and 3 for pictures',
    ],
    [
      'has a graph that is none',
      () => writeFileSync(join(path(), 'vision_model.onnx'), 'none'),
      'vision_model.onnx cannot be loaded',
    ],
    [
      'has a graph that wants others pixels than it says',
      () => writePictureFolder(path(), { preparation: { ...PREPARATION, size: 32, crop_size: 32 } }),
      'cannot read a picture of 32 × 32 pixels',
    ],
  ];
  it.each(damages)('that %s is not added, with the reason', async (_what, damage, why) => {
    writePictureFolder(path());
    damage();
    await expect(add()).rejects.toMatchObject(refused(why));
    expect(models.of('default')).toEqual([]);
  });

  it('holds no reranker', async () => {
    writePictureFolder(path(), { readsTexts: false });
    await expect(add('reranker')).rejects.toMatchObject(refused('orders no texts'));
  });
});

describe('preparationOf', () => {
  const known = { size: { height: 8, width: 4 }, image_mean: [0, 0, 0], image_std: [1, 1, 1] };

  it('reads the files of image processors', () => {
    expect(preparationOf(known).shape).toEqual({ width: 4, height: 8, shortSide: null, kernel: 'cubic' });
    expect(preparationOf({ ...known, size: 12, resample: 2 }).shape).toEqual({
      width: 12,
      height: 12,
      shortSide: null,
      kernel: 'linear',
    });
    const cropped = { ...known, size: 256, do_center_crop: true, crop_size: 224 };
    expect(preparationOf(cropped).shape).toMatchObject({ width: 224, height: 224, shortSide: 256 });
    const numbers = { ...known, image_mean: [0.5, 0.25, 0], image_std: [0.5, 0.5, 1], rescale_factor: 0.01 };
    expect(preparationOf(numbers)).toMatchObject({ factors: [0.02, 0.02, 0.01], offsets: [-1, -0.5, -0] });
    const raw = preparationOf({ size: 8, do_rescale: false, do_normalize: false });
    expect([...raw.factors, ...raw.offsets.map(Math.abs)]).toEqual([1, 1, 1, 0, 0, 0]);
  });

  it.each([
    ['do_pad', { do_pad: true }],
    ['crop_pct', { crop_pct: 0.9 }],
    ['do_resize', { do_resize: false }],
    ['resample 9', { resample: 9 }],
    ['height and width', { size: { shortest_edge: 8 } }],
    ['side of 0', { size: 0 }],
    ['side of 9999', { size: 9999 }],
    ['image_mean', { image_mean: [1, 2] }],
    ['above 0', { image_std: [1, 0, 1] }],
    ['rescale_factor', { rescale_factor: 'x' }],
    ['crop_size', { do_center_crop: true }],
    ['beyond the short side', { do_center_crop: true, size: 8, crop_size: 9 }],
    ['shortest_edge', { do_center_crop: true, crop_size: 3 }],
  ])('refuses what is not supported: %s', (why, more) => {
    expect(() => preparationOf({ ...known, ...more })).toThrow(why);
  });

  it('returns finite numbers or throws an OnnxError, whatever the file says', () => {
    const names = [...Object.keys(PREPARATION), 'do_pad', 'crop_pct'];
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.integer({ min: -3, max: 3000 }),
      fc.constant(PREPARATION.size),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), value), fc.boolean(), (given, isNear) => {
        try {
          const { shape, factors, offsets } = preparationOf(isNear ? { ...PREPARATION, ...given } : given);
          expect([...factors, ...offsets].every(Number.isFinite)).toBe(true);
          expect(Math.min(shape.width, shape.height)).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(OnnxError);
        }
      }),
    );
  });
});
