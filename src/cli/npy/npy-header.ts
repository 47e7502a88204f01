/**
 * The header of a `.npy` file, NumPy's format of one array (`numpy.lib.format`): magic, version, length, and a
 * dictionary as Python writes it: `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`. Pure functions on
 * untrusted bytes.
 */

const MAGIC = Buffer.from('\x93NUMPY', 'latin1');
/** Magic, version and the longest form of the length. */
export const NPY_PREFIX_BYTES = 12;
/** NumPy's own reader accepts 10,000; a longer header is no matrix. */
const HEADER_BYTES_MAX = 65_536;
const ALIGNMENT = 64;
/** Fixed length with room for any number of rows, so that rows can be counted while they are written. */
const WRITTEN_BYTES = 128;

/** The message continues a sentence that begins with the file's name: `is not …`. */
export class NpyError extends Error {
  override readonly name = 'NpyError';
}

export interface NpyArray {
  /** In NumPy's notation: `<f4`. */
  readonly type: string;
  /** True if the array is stored by columns instead of rows. */
  readonly isFortranOrder: boolean;
  readonly shape: readonly number[];
  /** Offset of the numbers. */
  readonly offset: number;
}

/** Returns the length of the header from the first NPY_PREFIX_BYTES of the file. Throws NpyError. */
export function npyHeaderBytes(prefix: Uint8Array): number {
  const bytes = Buffer.from(prefix.buffer, prefix.byteOffset, prefix.byteLength);
  if (bytes.length < NPY_PREFIX_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) {
    throw new NpyError('is not a .npy file: its first bytes are not those of the format');
  }
  const version = bytes[MAGIC.length] as number;
  if (version < 1 || version > 3)
    throw new NpyError(`has version ${version} of the .npy format. Versions 1, 2 and 3 can be read`);
  const begin = MAGIC.length + 2;
  const length = version === 1 ? begin + 2 + bytes.readUInt16LE(begin) : begin + 4 + bytes.readUInt32LE(begin);
  if (length > HEADER_BYTES_MAX) throw new NpyError(`has a header of ${length} bytes, more than any matrix needs`);
  return length;
}

/** Parses a header of `npyHeaderBytes` bytes. Throws NpyError. */
export function readNpyHeader(header: Uint8Array): NpyArray {
  const offset = npyHeaderBytes(header);
  if (header.byteLength < offset) throw new NpyError('ends within its header');
  const begin = MAGIC.length + 2 + (header[MAGIC.length] === 1 ? 2 : 4);
  const text = Buffer.from(header.buffer, header.byteOffset + begin, offset - begin).toString('utf8');
  const members = new LiteralReader(text).dictionary();
  const type = members.get('descr');
  const isFortranOrder = members.get('fortran_order');
  const shape = members.get('shape');
  if (typeof type !== 'string') throw new NpyError('holds records of several fields, not numbers of one kind');
  if (typeof isFortranOrder !== 'boolean' || !Array.isArray(shape)) {
    throw new NpyError('has a header without fortran_order or shape');
  }
  return { type, isFortranOrder, shape, offset };
}

/** Returns the header of a row-major matrix of 32-bit floats. Its length is the same for any number of rows. */
export function npyHeaderOf(rows: number, dimensions: number): Buffer {
  const header = Buffer.alloc(WRITTEN_BYTES, ' ');
  MAGIC.copy(header);
  header.set([1, 0], MAGIC.length);
  const begin = MAGIC.length + 4;
  header.writeUInt16LE(WRITTEN_BYTES - begin, MAGIC.length + 2);
  header.write(`{'descr': '<f4', 'fortran_order': False, 'shape': (${rows}, ${dimensions}), }`, begin, 'latin1');
  header.write('\n', WRITTEN_BYTES - 1, 'latin1');
  if (WRITTEN_BYTES % ALIGNMENT !== 0) throw new Error('numbers begin at a multiple of 64 bytes');
  return header;
}

type Literal = string | boolean | readonly number[] | undefined;

/**
 * Parses the Python literals that a header may have: strings, booleans, tuples of integers, and one dictionary of
 * these.
 */
class LiteralReader {
  private at = 0;

  constructor(private readonly text: string) {}

  dictionary(): Map<string, Literal> {
    const members = new Map<string, Literal>();
    this.expect('{');
    while (!this.takes('}')) {
      const key = this.string();
      this.expect(':');
      members.set(key, this.value());
      if (this.takes(',')) continue;
      this.expect('}');
      break;
    }
    if (this.text.slice(this.at).trim() !== '') this.fail();
    return members;
  }

  private value(): Literal {
    if (this.takes('True')) return true;
    if (this.takes('False')) return false;
    if (this.takes('(')) return this.numbers();
    // A list of tuples describes a record type, which is only recognised for the error.
    if (this.takes('[')) throw new NpyError('holds records of several fields, not numbers of one kind');
    return this.string();
  }

  private numbers(): number[] {
    const numbers: number[] = [];
    while (!this.takes(')')) {
      // Python 2 appended an L to long integers.
      const digits = this.match(/(\d{1,16})L?/y)?.[1];
      const number = Number(digits);
      if (digits === undefined || !Number.isSafeInteger(number)) this.fail();
      numbers.push(number);
      if (this.takes(',')) continue;
      this.expect(')');
      break;
    }
    return numbers;
  }

  private string(): string {
    return (
      this.match(/'([^'\\]*)'|"([^"\\]*)"/y)
        ?.slice(1)
        .find((text) => text !== undefined) ?? this.fail()
    );
  }

  private takes(token: string): boolean {
    this.match(/\s*/y);
    if (!this.text.startsWith(token, this.at)) return false;
    this.at += token.length;
    return true;
  }

  private expect(token: string): void {
    if (!this.takes(token)) this.fail();
  }

  /** Skips blanks and matches the pattern at the current position. */
  private match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found !== null) this.at = pattern.lastIndex;
    return found;
  }

  private fail(): never {
    throw new NpyError('has a header that is not a NumPy dictionary');
  }
}
