/**
 * What is read of a picture: nearly the same after common changes of the file, and a known fault if it cannot be read.
 */
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { pngOf } from '../../test/support/picture-bombs.js';
import { drawnPicture, jpegOf } from '../../test/support/pictures.js';
import { SeededRandom } from '../../test/support/random.js';
import { DESCRIPTOR_DIMENSIONS, describePixels, PIXELS_SIDE } from './descriptor.js';
import { pictureFormat } from './picture-format.js';
import { readPicture } from './read-picture.js';
import { PICTURE_FAULTS, PICTURE_FORMATS, PictureError } from './types.js';

const LIMITS = { pixelsMax: 50_000_000, msMax: 20_000 };
const PICTURES = 40;
const DAMAGED = 400;
const SVG = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
);

const vectorOf = async (bytes: Uint8Array) => (await readPicture(bytes, LIMITS)).vector;

function cosine(left: Float32Array, right: Float32Array): number {
  return left.reduce((sum, value, index) => sum + value * (right[index] ?? 0), 0);
}

async function faultOf(bytes: Uint8Array, limits = LIMITS): Promise<string> {
  try {
    await readPicture(bytes, limits);
    return 'read';
  } catch (error) {
    if (error instanceof PictureError) return error.fault;
    throw error;
  }
}

describe('readPicture', () => {
  it('reads every format, with nearly the same vector', async () => {
    const [first, ...others] = await Promise.all(
      PICTURE_FORMATS.map(async (format) => {
        const bytes = await drawnPicture(1).toFormat(format).toBuffer();
        const picture = await readPicture(bytes, LIMITS);
        expect(picture).toMatchObject({ format, width: 240, height: 160 });
        return picture.vector;
      }),
    );
    for (const other of others) expect(cosine(first ?? new Float32Array(), other)).toBeGreaterThan(0.95);
  });

  it('recognizes a picture among others after resizing, recompression, cropping, greyscale or a watermark', async () => {
    const files = await Promise.all(Array.from({ length: PICTURES }, (_, seed) => jpegOf(seed)));
    const vectors = await Promise.all(files.map(vectorOf));
    const nearest = (vector: Float32Array) => {
      const cosines = vectors.map((other) => cosine(vector, other));
      return cosines.indexOf(Math.max(...cosines));
    };
    const mark = { input: { create: { width: 50, height: 30, channels: 3, background: '#c02020' } } } as const;
    const alterations = [
      (file: Buffer) => sharp(file).resize({ width: 90 }).jpeg(),
      (file: Buffer) => sharp(file).jpeg({ quality: 15 }),
      (file: Buffer) => sharp(file).extract({ left: 14, top: 10, width: 216, height: 144 }).webp(),
      (file: Buffer) => sharp(file).greyscale().png(),
      (file: Buffer) => sharp(file).composite([{ ...mark, gravity: 'southeast' }]),
    ];
    for (const alter of alterations) {
      const found = await Promise.all(files.map(async (file) => nearest(await vectorOf(await alter(file).toBuffer()))));
      expect(found).toEqual(files.map((_, seed) => seed));
    }
  });

  it('applies the EXIF orientation, and puts transparent pictures on white', async () => {
    const upright = await jpegOf(3);
    const lying = await sharp(upright).rotate(-90).withMetadata({ orientation: 6 }).jpeg({ quality: 95 }).toBuffer();
    expect(await readPicture(lying, LIMITS)).toMatchObject({ width: 240, height: 160 });
    expect(cosine(await vectorOf(lying), await vectorOf(upright))).toBeGreaterThan(0.98);
    const half = { width: 80, height: 80, channels: 4, background: { r: 200, g: 0, b: 0, alpha: 0.5 } } as const;
    const pink = { width: 80, height: 80, channels: 3, background: { r: 228, g: 128, b: 128 } } as const;
    const [through, opaque] = await Promise.all([half, pink].map((create) => sharp({ create }).png().toBuffer()));
    expect(cosine(await vectorOf(through as Buffer), await vectorOf(opaque as Buffer))).toBeGreaterThan(0.999);
  });

  it('does not decode a picture with too many pixels, whatever its header says', async () => {
    const bomb = pngOf(65_000, 65_000, deflateSync(Buffer.alloc(2 ** 20)));
    expect(bomb.length).toBeLessThan(2000);
    expect(await faultOf(bomb)).toBe('too-large');
    expect(await faultOf(await jpegOf(1), { ...LIMITS, pixelsMax: 240 * 160 - 1 })).toBe('too-large');
    expect(await faultOf(await jpegOf(1), { ...LIMITS, pixelsMax: 240 * 160 })).toBe('read');
  });

  it('refuses other formats', async () => {
    for (const other of [SVG, Buffer.from('%PDF-1.4\n'), Buffer.from('II*\0'), Buffer.alloc(0), Buffer.alloc(100)])
      expect(await faultOf(other)).toBe('not-a-picture');
    // The decoder itself would refuse this format, too.
    await expect(sharp(SVG).toBuffer()).rejects.toThrow('unsupported');
  });

  it('returns a picture or a known fault for damaged files', async () => {
    const random = new SeededRandom(20);
    const files = await Promise.all(PICTURE_FORMATS.map((format) => drawnPicture(2).toFormat(format).toBuffer()));
    const told = new Set<string>();
    for (let round = 0; round < DAMAGED; ++round) {
      const file = Buffer.from(random.pick(files));
      for (let changes = 1 + random.below(8); changes > 0; --changes)
        file[random.below(Math.min(file.length, random.pick([64, file.length])))] = random.below(256);
      const fault = await faultOf(file.subarray(0, random.below(4) === 0 ? random.below(file.length) : undefined));
      expect(['read', ...PICTURE_FAULTS]).toContain(fault);
      told.add(fault);
    }
    expect([...told]).toEqual(expect.arrayContaining(['read', 'damaged', 'not-a-picture']));
  });

  it('recognizes a known format or none in any bytes', () => {
    const begin = fc.constantFrom(
      '',
      'RIFF',
      'RIFF0000WEBP',
      'GIF89a',
      '\0\0\0\x1cftyp',
      '\0\0\0\x1cftypmif1\0\0\0\0avif',
    );
    fc.assert(
      fc.property(begin, fc.uint8Array({ maxLength: 60 }), fc.nat(9), (letters, rest, offset) => {
        const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(letters, 'latin1'), rest]).subarray(offset);
        expect([undefined, ...PICTURE_FORMATS]).toContain(pictureFormat(bytes));
      }),
    );
  });
});

describe('describePixels', () => {
  it('returns a vector of length 1 for any pixels', () => {
    const length = 3 * PIXELS_SIDE * PIXELS_SIDE;
    const pixels = fc.oneof(
      fc.nat(255).map((value) => new Uint8Array(length).fill(value)),
      fc.nat().map((seed) => {
        const random = new SeededRandom(seed);
        return Uint8Array.from({ length }, () => random.below(256));
      }),
    );
    fc.assert(
      fc.property(pixels, (of) => {
        const vector = describePixels(of);
        expect(vector.length).toBe(DESCRIPTOR_DIMENSIONS);
        expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
      }),
      { numRuns: 30 },
    );
    expect(() => describePixels(new Uint8Array(7))).toThrow('12288 bytes');
  });
});
