/**
 * Decodes CSV as spreadsheets write it: cells separated by commas, semicolons or tabs (depending on the country), in
 * UTF-8, UTF-16 or the Windows encoding, with row ends of Unix, Windows or old Macintosh. All of these are detected
 * from the beginning of the text. Also runs in browsers.
 */
export type CsvSeparator = ',' | ';' | '\t';

/** If a row has several of these equally often, the first is its separator: a header has tabs for no other reason. */
const SEPARATORS: readonly CsvSeparator[] = ['\t', ',', ';'];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** Number of bytes at the beginning from which the form is detected. */
const HEAD_BYTES = 65_536;
const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d];
/** May precede the header: a line that tells spreadsheets the separator, or an empty one. */
const FIRST_LINE = /^(?:"?sep=([,;\t])"?)?(?=[\r\n])/i;

export interface CsvForm {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  readonly separator: CsvSeparator;
  /** Set if rows end with a carriage return alone, which nothing else treats as a line end. */
  readonly rowEnd?: '\r';
  /**
   * Number of bytes of UTF-8 before the end of a first line that is not a row. The line end itself is kept, because
   * lines are counted by it.
   */
  readonly skippedBytes?: number;
}

/** Takes a text piece by piece. Returns it in UTF-8, with rows that end with line feeds, once `form` is known. */
export class CsvText {
  #head: Uint8Array = new Uint8Array(0);
  #form: CsvForm | undefined;
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  readonly #encoder = new TextEncoder();

  /** Undefined until enough of the text has been read. */
  get form(): CsvForm | undefined {
    return this.#form;
  }

  /** Returns no bytes until the form is known. */
  read(piece: Uint8Array): Uint8Array {
    if (this.#form !== undefined) return this.#utf8(piece);
    this.#head = joined(this.#head, piece);
    return this.#head.length < HEAD_BYTES ? new Uint8Array(0) : this.#begin();
  }

  /** Returns bytes that were held back. The form is known from now on. */
  end(): Uint8Array {
    const begun = this.#form === undefined ? this.#begin() : new Uint8Array(0);
    return this.#decoder === undefined ? begun : joined(begun, this.#encoder.encode(this.#decoder.decode()));
  }

  #begin(): Uint8Array {
    this.#form = csvFormOf(this.#head);
    if (this.#form.encoding !== 'utf-8') this.#decoder = new TextDecoder(this.#form.encoding);
    return this.#utf8(this.#head).subarray(this.#form.skippedBytes ?? 0);
  }

  #utf8(piece: Uint8Array): Uint8Array {
    const text =
      this.#decoder === undefined ? piece : this.#encoder.encode(this.#decoder.decode(piece, { stream: true }));
    return this.#form?.rowEnd === undefined ? text : text.map((byte) => (byte === CARRIAGE_RETURN ? LINE_FEED : byte));
  }
}

/** Returns the beginning of a text, or a whole text, as `CsvText` decodes it, and the separator. */
export function csvTextOf(begin: Uint8Array): { readonly text: string; readonly separator: CsvSeparator } {
  const reader = new CsvText();
  const bytes = joined(reader.read(begin), reader.end());
  return { text: new TextDecoder().decode(bytes), separator: reader.form?.separator ?? ',' };
}

/** Detects the form from the first 64 KiB of a text, or from all of a shorter one. */
export function csvFormOf(head: Uint8Array): CsvForm {
  const begin = head.subarray(0, HEAD_BYTES);
  const encoding = encodingOf(begin);
  const text = new TextDecoder(encoding).decode(begin);
  const rowEnd = endsRowsWithReturn(text) ? { rowEnd: '\r' as const } : {};
  const firstLine = FIRST_LINE.exec(text);
  const [told = '', separator = separatorOf(text)] = firstLine ?? [];
  const isMarkAlone = firstLine !== null && encoding === 'utf-8' && isMarked(begin);
  const skippedBytes = told.length + (isMarkAlone ? BYTE_ORDER_MARK.length : 0);
  return { encoding, separator: separator as CsvSeparator, ...rowEnd, ...(skippedBytes > 0 && { skippedBytes }) };
}

function isMarked(head: Uint8Array): boolean {
  return BYTE_ORDER_MARK.every((byte, at) => head[at] === byte);
}

/**
 * A carriage return within quotes belongs to a cell. One at the very end may be the first half of a Windows line end.
 */
function endsRowsWithReturn(text: string): boolean {
  if (text.includes('\n')) return false;
  let isQuoted = false;
  for (let at = text.search(/["\r]/); at >= 0 && at < text.length - 1; at += 1) {
    if (text[at] === '"') isQuoted = !isQuoted;
    else if (text[at] === '\r' && !isQuoted) return true;
  }
  return false;
}

/**
 * A text that is not UTF-8 is assumed to be in the Windows encoding of western Europe: with one byte per letter,
 * nothing tells the alphabet. A UTF-8 text with some broken bytes still counts as UTF-8, because two letters of the
 * Windows encoding hardly ever look like one of UTF-8.
 */
function encodingOf(head: Uint8Array): CsvForm['encoding'] {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (isMarked(head)) return 'utf-8';
  // Without a byte order mark: in UTF-16, every other byte of a header of English letters is zero, and no other
  // encoding has zero bytes.
  if (hasEmpty(head, 1)) return 'utf-16le';
  if (hasEmpty(head, 0)) return 'utf-16be';
  if (isWhole(head)) return 'utf-8';
  // The head may end within a letter, so the decoder is told that more follows.
  const text = new TextDecoder('utf-8').decode(head, { stream: true });
  let [letters, faults] = [0, 0];
  for (const letter of text) {
    if (letter === '\ufffd') faults += 1;
    else if (letter > '\u007f') letters += 1;
  }
  return letters >= faults ? 'utf-8' : 'windows-1252';
}

/**
 * True if all of it is UTF-8. A replacement character (U+FFFD) does not tell that, since the text itself may contain
 * it.
 */
function isWhole(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** True if the byte at this place is zero in each of the first two letters, and the other byte is not. */
function hasEmpty(head: Uint8Array, at: 0 | 1): boolean {
  return [0, 2].every((begin) => head[begin + at] === 0 && (head[begin + 1 - at] ?? 0) !== 0);
}

/**
 * Returns the separator that occurs most often outside quotes in the first row that is not empty; a comma if it has
 * none.
 */
export function separatorOf(text: string): CsvSeparator {
  const counts = new Map<string, number>();
  let isQuoted = false;
  for (const letter of text) {
    if (letter === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (letter === '\n' || letter === '\r') {
      if (counts.size > 0) break;
      continue;
    }
    counts.set(letter, (counts.get(letter) ?? 0) + 1);
  }
  const countOf = (separator: CsvSeparator): number => counts.get(separator) ?? 0;
  const most = Math.max(...SEPARATORS.map(countOf));
  return (most > 0 ? SEPARATORS.find((each) => countOf(each) === most) : undefined) ?? ',';
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  if (first.length === 0) return second;
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
