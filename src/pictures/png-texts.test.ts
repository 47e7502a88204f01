import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunk, pngOf } from '../../test/support/picture-bombs.js';
import { withoutTexts } from './png-texts.js';
import { readPicture } from './read-picture.js';

const SIDE = 8;
const rows = deflateSync(Buffer.alloc(SIDE * (SIDE + 1)));
const textOf = (name: string, content: Uint8Array) => chunk(name, Buffer.concat([Buffer.from('Comment\0\0'), content]));

describe('withoutTexts', () => {
  it('removes the texts of a PNG, and keeps all other chunks', () => {
    const size = chunk('pHYs', Buffer.alloc(9));
    const texts = ['tEXt', 'zTXt', 'iTXt'].map((name) => textOf(name, deflateSync(Buffer.alloc(1000))));
    const [first = Buffer.alloc(0), ...others] = texts;
    const plain = pngOf(SIDE, SIDE, rows, [size]);
    expect(Buffer.from(withoutTexts(pngOf(SIDE, SIDE, rows, [first, size, ...others])))).toEqual(plain);
    expect(withoutTexts(plain)).toBe(plain);
  });

  it('makes a PNG with texts that unpack to gigabytes as fast to read as without them', async () => {
    const text = textOf('zTXt', deflateSync(Buffer.alloc(50_000_000)));
    const bomb = pngOf(
      SIDE,
      SIDE,
      rows,
      Array.from({ length: 200 }, () => text),
    );
    const before = process.cpuUsage();
    const limits = { pixelsMax: 1e6, msMax: 60_000 };
    const { vector } = await readPicture(bomb, limits);
    const { user, system } = process.cpuUsage(before);
    expect(vector).toEqual((await readPicture(pngOf(SIDE, SIDE, rows), limits)).vector);
    expect((user + system) / 1000).toBeLessThan(2000);
  });

  it('only ever leaves bytes out, wherever a PNG ends or whatever the bytes are', () => {
    const whole = pngOf(SIDE, SIDE, rows, [textOf('tEXt', Buffer.from('made by nobody'))]);
    const lengths = fc.integer({ min: 0, max: whole.length });
    fc.assert(
      fc.property(lengths, fc.uint8Array({ maxLength: 40 }), (length, behind) => {
        const bytes = Buffer.concat([whole.subarray(0, length), behind]);
        const read = Buffer.from(withoutTexts(bytes));
        expect(read.length).toBeLessThanOrEqual(bytes.length);
        if (read.length === bytes.length) expect(read).toEqual(bytes);
        expect(Buffer.from(withoutTexts(read))).toEqual(read);
      }),
    );
  });
});
