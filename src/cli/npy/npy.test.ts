import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CommandError } from '../exit-codes.js';
import { floatOfHalf, NpyReader, NpyWriter } from './npy-file.js';
import { npyHeaderBytes, npyHeaderOf, NpyError, readNpyHeader } from './npy-header.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-npy-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns a header as NumPy writes it, padded with blanks so that the numbers begin at a multiple of 64 bytes. */
function headerOf(dictionary: string, version: 1 | 2 | 3 = 1): Buffer {
  const prefixBytes = version === 1 ? 10 : 12;
  const textBytes = Math.ceil((prefixBytes + Buffer.byteLength(dictionary) + 1) / 64) * 64 - prefixBytes;
  const prefix = Buffer.alloc(prefixBytes);
  prefix.write('\x93NUMPY', 'latin1');
  prefix[6] = version;
  if (version === 1) prefix.writeUInt16LE(textBytes, 8);
  else prefix.writeUInt32LE(textBytes, 8);
  return Buffer.concat([
    prefix,
    Buffer.from(`${dictionary.padEnd(textBytes - 1 - Buffer.byteLength(dictionary) + dictionary.length)}\n`),
  ]);
}

const dictionary = (type: string, shape: string, order = 'False') =>
  `{'descr': '${type}', 'fortran_order': ${order}, 'shape': ${shape}, }`;

function fileOf(...parts: readonly Uint8Array[]): string {
  const path = join(folder, 'matrix.npy');
  writeFileSync(path, Buffer.concat(parts));
  return path;
}

const floats = (...values: number[]) => Buffer.from(Float32Array.from(values).buffer);
const halves = (...values: number[]) => Buffer.from(Uint16Array.from(values).buffer);

async function rowsOf(path: string): Promise<number[][]> {
  const reader = await NpyReader.open(path);
  const rows: number[][] = [];
  for (let row = await reader.next(); row !== undefined; row = await reader.next()) rows.push(Array.from(row));
  await reader.close();
  return rows;
}

async function refusalOf(...parts: readonly Uint8Array[]): Promise<string> {
  const path = fileOf(...parts);
  const error: unknown = await rowsOf(path).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(CommandError);
  return (error as CommandError).message.replace(path, 'FILE');
}

describe('NpyReader', () => {
  it.each([1, 2, 3] as const)('reads version %i with 32 bit floats and half floats', async (version) => {
    const wide = headerOf(dictionary('<f4', '(2, 3)'), version);
    expect(await rowsOf(fileOf(wide, floats(1, 2, 3, 4, 5, 6)))).toEqual([
      [1, 2, 3],
      [4, 5, 6],
    ]);
    const narrow = headerOf(dictionary('<f2', '(2, 1)'), version);
    expect(await rowsOf(fileOf(narrow, halves(0x3c00, 0xc100)))).toEqual([[1], [-2.5]]);
  });

  it('reads matrices of Python 2, with other quotes, and matrices without rows', async () => {
    const header = headerOf(`{"shape": (1L, 2L), 'fortran_order': False, "descr": '<f4'}`);
    expect(await rowsOf(fileOf(header, floats(7, 8)))).toEqual([[7, 8]]);
    expect(await rowsOf(fileOf(headerOf(dictionary('<f4', '(0, 4)'))))).toEqual([]);
  });

  it('returns NaN and Infinity as they are, for others to refuse', async () => {
    const header = headerOf(dictionary('<f4', '(1, 3)'));
    expect(await rowsOf(fileOf(header, floats(NaN, Infinity, -0)))).toEqual([[NaN, Infinity, -0]]);
  });

  it('says what was expected if the file is not supported', async () => {
    const row = floats(1, 2);
    const refused = (type: string, shape: string, order?: string) =>
      refusalOf(headerOf(dictionary(type, shape, order)), row);
    expect(await refused('>f4', '(1, 2)')).toMatch(
      /^FILE holds big-endian numbers\. Only little-endian float32 and float16/,
    );
    expect(await refused('<f8', '(1, 1)')).toMatch(
      /^FILE holds numbers of the type "<f8"\. Only little-endian float32 and float16/,
    );
    expect(await refused('<f4', '(1, 2)', 'True')).toMatch(/^FILE is stored by columns \(Fortran order\)/);
    expect(await refused('<f4', '(2,)')).toBe(
      'FILE has the shape (2). Expected two dimensions: the vectors, and the numbers of each.',
    );
    expect(await refused('<f4', '(1, 2, 1)')).toMatch(/has the shape \(1, 2, 1\)/);
    expect(await refused('<f4', '(1, 0)')).toBe('FILE has vectors of 0 numbers. Expected 1 to 8192.');
    expect(await refused('<f4', '(1, 8193)')).toMatch(/vectors of 8193 numbers/);
    expect(await refused('<f4', '(2, 2)')).toMatch(/^FILE ends too early: 2 rows need \d+ bytes/);
    expect(await refused('<f4', '(1, 1)')).toMatch(/^FILE is longer than its 1 rows/);
    expect(await refused('<f4', '(9007199254740991, 8192)')).toMatch(/^FILE has 9007199254740991 rows by its header/);
    expect(await refusalOf(headerOf(`{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }`))).toMatch(
      /records of several fields/,
    );
    expect(await refusalOf(headerOf(dictionary('<f4', '(1, 2)')).subarray(0, 40))).toMatch(/^FILE ends too early/);
    expect(await refusalOf(Buffer.from('name,title\n'))).toBe(
      'FILE is not a .npy file: its first bytes are not those of the format.',
    );
    expect(await refusalOf(Buffer.alloc(0))).toMatch(/is not a \.npy file/);
    expect(await refusalOf(Buffer.from('\x93NUMPY\x04\x00\xff\xff\xff\xff\xff', 'latin1'))).toMatch(
      /has version 4 of the \.npy format/,
    );
    expect(await refusalOf(Buffer.from('\x93NUMPY\x02\x00\xff\xff\xff\xff', 'latin1'))).toMatch(
      /has a header of 4294967307 bytes/,
    );
    await expect(NpyReader.open(join(folder, 'nowhere.npy'))).rejects.toThrow(
      /nowhere\.npy cannot be used: it does not exist/,
    );
    await expect(NpyReader.open(folder)).rejects.toThrow(/cannot be used: it is a folder/);
  });

  it('takes no more memory for a million rows', async () => {
    const path = fileOf(headerOf(dictionary('<f4', '(1000000, 64)')));
    truncateSync(path, readFileSync(path).length + 1e6 * 64 * 4);
    // Garbage is freed after two collections: the second one waits until the buffers of the first are freed.
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const used = () => {
      collect();
      collect();
      return process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
    };
    const before = used();
    const reader = await NpyReader.open(path);
    let rows = 0;
    let most = 0;
    for (let row = await reader.next(); row !== undefined; row = await reader.next()) {
      if (++rows % 100_000 === 0) most = Math.max(most, used() - before);
    }
    await reader.close();
    expect(rows).toBe(1e6);
    // All rows together have 244 MiB, and a block has one.
    expect(most / 2 ** 20).toBeLessThan(16);
  });
});

describe('the header of a .npy file', () => {
  it('is read or refused with an NpyError, whatever the bytes are', () => {
    const good = headerOf(dictionary('<f4', '(3, 4)'), 2);
    const damaged = fc
      .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { maxLength: 6 })
      .map((changes) =>
        changes.reduce((bytes, [at, value]) => (bytes.writeUInt8(value, at), bytes), Buffer.from(good)),
      );
    const text = fc
      .array(
        fc.constantFrom(
          '{',
          '}',
          '(',
          ')',
          '[',
          ',',
          ':',
          "'",
          '"',
          'True',
          'False',
          'descr',
          'shape',
          '12',
          'L',
          ' ',
          '\\',
        ),
      )
      .map((parts) => headerOf(parts.join('')));
    fc.assert(
      fc.property(fc.oneof(damaged, text, fc.uint8Array({ maxLength: 200 })), (bytes) => {
        try {
          const { type, shape, offset } = readNpyHeader(bytes);
          expect(typeof type).toBe('string');
          expect(shape.every((size) => Number.isSafeInteger(size) && size >= 0)).toBe(true);
          expect(offset).toBeLessThanOrEqual(bytes.length);
        } catch (error) {
          if (!(error instanceof NpyError)) throw error;
        }
      }),
      { numRuns: 3000 },
    );
  });

  it('is read as it was written, and has the same length for any number of rows', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), fc.integer({ min: 1, max: 8192 }), (rows, dimensions) => {
        const header = npyHeaderOf(rows, dimensions);
        expect(npyHeaderBytes(header)).toBe(header.length);
        expect(header.length).toBe(npyHeaderOf(0, 0).length);
        expect(readNpyHeader(header)).toEqual({
          type: '<f4',
          isFortranOrder: false,
          shape: [rows, dimensions],
          offset: header.length,
        });
      }),
    );
  });
});

it('floatOfHalf returns the value of a half float', () => {
  const known = { 0: 0, 1: 2 ** -24, 0x3ff: 1023 * 2 ** -24, 0x400: 2 ** -14, 0x3555: 0.333251953125, 0x7bff: 65_504 };
  for (const [bits, value] of Object.entries(known)) {
    expect(floatOfHalf(Number(bits))).toBe(value);
    expect(floatOfHalf(Number(bits) | 0x8000)).toBe(-value);
  }
  expect([floatOfHalf(0x7c00), floatOfHalf(0xfc00), floatOfHalf(0x7e00)]).toEqual([Infinity, -Infinity, NaN]);
});

describe('NpyWriter', () => {
  it('writes rows that are read again, with zeros for missing vectors', async () => {
    const path = join(folder, 'written.npy');
    const writer = await NpyWriter.create(path);
    for (const row of [undefined, [1, 0.1], undefined, [-2, 3]]) {
      await writer.write(row === undefined ? undefined : Float32Array.from(row));
    }
    expect(existsSync(path)).toBe(false);
    await writer.end();
    expect(await rowsOf(path)).toEqual([
      [0, 0],
      [1, Math.fround(0.1)],
      [0, 0],
      [-2, 3],
    ]);
  });

  it('leaves nothing new, and keeps the old file, if the matrix cannot be completed', async () => {
    const path = join(folder, 'kept.npy');
    writeFileSync(path, 'before');
    const uneven = await NpyWriter.create(path);
    await uneven.write(new Float32Array(2));
    await expect(uneven.write(new Float32Array(3))).rejects.toThrow(/Vectors of 2 and of 3 numbers do not fit/);
    await uneven.abandon();
    const empty = await NpyWriter.create(path);
    await empty.write(undefined);
    await expect(empty.end()).rejects.toThrow(/no record of the list has a vector/);
    await empty.abandon();
    expect(readFileSync(path, 'utf8')).toBe('before');
    expect(readdirSync(folder).filter((name) => name.endsWith('.unfinished'))).toEqual([]);
    await expect(NpyWriter.create(join(folder, 'no', 'folder.npy'))).rejects.toThrow(
      /cannot be used: it does not exist/,
    );
  });
});
