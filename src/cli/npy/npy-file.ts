/** Reads and writes matrices of floats in `.npy` files row by row, with memory independent of the number of rows. */
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { CommandError } from '../exit-codes.js';
import { readFully, systemReason, writeFully } from '../../platform/index.js';
import { unfinishedFile } from '../unfinished-files.js';
import { npyHeaderBytes, npyHeaderOf, NpyError, NPY_PREFIX_BYTES, readNpyHeader, type NpyArray } from './npy-header.js';

/** Limit of the service for a vector. */
const DIMENSIONS_MAX = 8192;
const BLOCK_BYTES = 2 ** 20;

type FloatBytes = 2 | 4;

const FLOATS: ReadonlyMap<string, FloatBytes> = new Map([
  ['<f4', 4],
  ['<f2', 2],
]);

/** Description of a file's matrix. */
interface Matrix {
  readonly floatBytes: FloatBytes;
  /** Offset of the numbers. */
  readonly offset: number;
  readonly rows: number;
  readonly dimensions: number;
}

/** Reads a `.npy` file of vectors, one per row. For one reader. */
export class NpyReader {
  private block = Buffer.alloc(0);
  private blockRow = 0;
  private nextRow = 0;

  private constructor(
    private readonly file: FileHandle,
    readonly path: string,
    private readonly matrix: Matrix,
  ) {}

  get rows(): number {
    return this.matrix.rows;
  }

  get dimensions(): number {
    return this.matrix.dimensions;
  }

  /** Throws a CommandError if the file has no such matrix, or is incomplete. */
  static async open(path: string): Promise<NpyReader> {
    return told(path, async () => {
      const file = await open(path, 'r');
      try {
        const array = await headerOf(file);
        const floatBytes = floatsOf(array);
        const [rows, dimensions] = sizeOf(array);
        const bytes = array.offset + rows * dimensions * floatBytes;
        const { size } = await file.stat();
        if (size < bytes) throw new NpyError(`ends too early: ${rows} rows need ${bytes} bytes, but it has ${size}`);
        if (size > bytes) throw new NpyError(`is longer than its ${rows} rows: ${size} bytes instead of ${bytes}`);
        return new NpyReader(file, path, { floatBytes, offset: array.offset, rows, dimensions });
      } catch (error) {
        await file.close();
        throw error;
      }
    });
  }

  /** Returns the next row; undefined after the last. Numbers are not checked. */
  async next(): Promise<Float32Array | undefined> {
    if (this.nextRow === this.rows) return undefined;
    const { floatBytes } = this.matrix;
    const rowBytes = this.dimensions * floatBytes;
    if ((this.nextRow - this.blockRow) * rowBytes >= this.block.length) await this.readBlock(rowBytes);
    const begin = (this.nextRow - this.blockRow) * rowBytes;
    const bytes = this.block.subarray(begin, begin + rowBytes);
    this.nextRow += 1;
    const row = new Float32Array(this.dimensions);
    if (floatBytes === 4) new Uint8Array(row.buffer).set(bytes);
    else for (let i = 0; i < row.length; ++i) row[i] = floatOfHalf(bytes.readUInt16LE(2 * i));
    return row;
  }

  async close(): Promise<void> {
    await this.file.close();
  }

  private async readBlock(rowBytes: number): Promise<void> {
    const rows = Math.min(Math.max(1, Math.floor(BLOCK_BYTES / rowBytes)), this.rows - this.nextRow);
    await told(this.path, async () => {
      const block = Buffer.allocUnsafe(rows * rowBytes);
      await readWhole(this.file, block, this.matrix.offset + this.nextRow * rowBytes);
      this.block = block;
      this.blockRow = this.nextRow;
    });
  }
}

async function headerOf(file: FileHandle): Promise<NpyArray> {
  const prefix = Buffer.alloc(NPY_PREFIX_BYTES);
  const bytesRead = await readFully(file, prefix, 0);
  const header = Buffer.alloc(npyHeaderBytes(prefix.subarray(0, bytesRead)));
  await readWhole(file, header, 0);
  return readNpyHeader(header);
}

function floatsOf({ type, isFortranOrder }: NpyArray): FloatBytes {
  const floatBytes = FLOATS.get(type);
  if (floatBytes === undefined) {
    const reason = /^>f[24]$/.test(type) ? 'big-endian numbers' : `numbers of the type ${JSON.stringify(type)}`;
    throw new NpyError(
      `holds ${reason}. Only little-endian float32 and float16 can be read: convert it with .astype('<f4')`,
    );
  }
  if (isFortranOrder) {
    throw new NpyError('is stored by columns (Fortran order). Convert it with numpy.ascontiguousarray');
  }
  return floatBytes;
}

function sizeOf({ shape }: NpyArray): readonly [number, number] {
  const [rows, dimensions] = shape;
  if (shape.length !== 2 || rows === undefined || dimensions === undefined) {
    throw new NpyError(
      `has the shape (${shape.join(', ')}). Expected two dimensions: the vectors, and the numbers of each`,
    );
  }
  if (dimensions < 1 || dimensions > DIMENSIONS_MAX) {
    throw new NpyError(`has vectors of ${dimensions} numbers. Expected 1 to ${DIMENSIONS_MAX}`);
  }
  if (!Number.isSafeInteger(rows * dimensions * 4))
    throw new NpyError(`has ${rows} rows by its header, too many for one file`);
  return [rows, dimensions];
}

async function readWhole(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  if ((await readFully(file, bytes, position)) < bytes.length)
    throw new NpyError('ends too early: it was changed while it was read, or its header is cut off');
}

/** Converts an IEEE 754 binary16 number. */
export function floatOfHalf(half: number): number {
  const sign = (half & 0x8000) === 0 ? 1 : -1;
  const exponent = (half >> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/**
 * Writes 32-bit floats, one vector per row, to a temporary file, which is renamed when it is complete and on disk. For
 * one writer.
 */
export class NpyWriter {
  private rows = 0;
  private dimensions: number | undefined;
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  private position = npyHeaderOf(0, 0).length;
  private readonly isOver: () => void;

  private constructor(
    private readonly file: FileHandle,
    readonly path: string,
  ) {
    this.isOver = unfinishedFile(unfinished(path));
  }

  /** Throws a CommandError. */
  static async create(path: string): Promise<NpyWriter> {
    return told(path, async () => {
      // Removes a leftover of a killed export, or anything else, so that it is not written to.
      await rm(unfinished(path), { force: true });
      return new NpyWriter(await open(unfinished(path), 'wx', 0o600), path);
    });
  }

  /** Writes a row with the length of the first one; undefined becomes zeros. Throws a CommandError. */
  async write(row: Float32Array | undefined): Promise<void> {
    this.rows += 1;
    if (row !== undefined && this.dimensions === undefined) {
      this.dimensions = row.length;
      // Earlier records have no vector.
      for (let before = 1; before < this.rows; ++before) await this.put(new Float32Array(row.length));
    }
    if (this.dimensions !== undefined) await this.put(row ?? new Float32Array(this.dimensions));
  }

  private async put(row: Float32Array): Promise<void> {
    if (row.length !== this.dimensions) {
      throw new CommandError(
        `Vectors of ${this.dimensions} and of ${row.length} numbers do not fit into one matrix, so ${this.path} was not written.`,
      );
    }
    this.pending.push(Buffer.from(row.slice().buffer));
    this.pendingBytes += row.byteLength;
    if (this.pendingBytes >= BLOCK_BYTES) await this.flush();
  }

  /** Completes the file. Throws a CommandError, in which case the path is unchanged. */
  async end(): Promise<void> {
    await this.flush();
    await told(this.path, async () => {
      if (this.dimensions === undefined) throw new NpyError('was not written: no record of the list has a vector');
      const header = npyHeaderOf(this.rows, this.dimensions);
      await writeFully(this.file, header, 0);
      await this.file.sync();
      await this.file.close();
      await rename(unfinished(this.path), this.path);
      this.isOver();
    });
  }

  async abandon(): Promise<void> {
    await this.file.close().catch(() => undefined);
    await rm(unfinished(this.path), { force: true });
    this.isOver();
  }

  private async flush(): Promise<void> {
    const bytes = Buffer.concat(this.pending);
    this.pending = [];
    this.pendingBytes = 0;
    await told(this.path, () => writeFully(this.file, bytes, this.position));
    this.position += bytes.length;
  }
}

function unfinished(path: string): string {
  return `${path}.unfinished`;
}

/** Converts errors of the file or the system into a CommandError. */
async function told<Result>(path: string, use: () => Promise<Result>): Promise<Result> {
  try {
    return await use();
  } catch (error) {
    if (error instanceof NpyError) throw new CommandError(`${path} ${error.message}.`);
    if (error instanceof CommandError) throw error;
    throw new CommandError(`${path} cannot be used: ${systemReason(error)}.`);
  }
}
