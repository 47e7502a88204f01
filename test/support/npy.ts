/** Matrices in NumPy's file format. */
import { readFileSync } from 'node:fs';

/** Returns a float32 matrix as `numpy.save` writes it. */
export function npyOf(rows: readonly (readonly number[])[]): Buffer {
  const text = `{'descr': '<f4', 'fortran_order': False, 'shape': (${rows.length}, ${rows[0]?.length ?? 0}), }`;
  const header = Buffer.alloc(128, ' ');
  header.write('\x93NUMPY\x01\x00', 'latin1');
  header.writeUInt16LE(118, 8);
  header.write(text, 10, 'latin1');
  header.write('\n', 127);
  return Buffer.concat([header, Buffer.from(Float32Array.from(rows.flat()).buffer)]);
}

/** Returns all numbers of such a file. */
export function floatsOf(path: string): number[] {
  const bytes = readFileSync(path);
  const begin = 10 + bytes.readUInt16LE(8);
  return Array.from({ length: (bytes.length - begin) / 4 }, (_, at) => bytes.readFloatLE(begin + 4 * at));
}
