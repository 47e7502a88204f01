/**
 * CSV as spreadsheets write it: cells behind commas, semicolons or tabs, as the country has it, letters in UTF-8, UTF-16 or the encoding of
 * Windows, and rows that end as those of Unix, Windows or an old Macintosh. All are known by how a text begins. Runs in browsers, too.
 */
export type CsvSeparator = ',' | ';' | '\t';

/** Of those that a row has as often, the first is its separator: a heading has tabs for no other reason. */
const SEPARATORS: readonly CsvSeparator[] = ['\t', ',', ';'];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** Of the beginning, by which it is known how a text was written. */
const HEAD_BYTES = 65_536;
const [LINE_FEED, CARRIAGE_RETURN] = [0x0a, 0x0d];
/** What may stand before the heading: a line that tells spreadsheets the separator, or an empty one. */
const FIRST_LINE = /^(?:"?sep=([,;\t])"?)?(?=[\r\n])/i;

export interface CsvForm {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  readonly separator: CsvSeparator;
  /** Where rows end with a carriage return alone, which nothing else takes for the end of one. */
  readonly rowEnd?: '\r';
  /** Bytes of UTF-8 before a first line end that ends no row. It is left itself, for lines are counted by it. */
  readonly skippedBytes?: number;
}

/** Takes a text piece by piece; gives it in UTF-8, with rows that end with line feeds, from where `form` is known. */
export class CsvText {
  #head: Uint8Array = new Uint8Array(0);
  #form: CsvForm | undefined;
  #decoder: InstanceType<typeof TextDecoder> | undefined;
  readonly #encoder = new TextEncoder();

  /** Undefined while too little of the text is there. */
  get form(): CsvForm | undefined {
    return this.#form;
  }

  /** Nothing, where the form is not known yet. */
  read(piece: Uint8Array): Uint8Array {
    if (this.#form !== undefined) return this.#utf8(piece);
    this.#head = joined(this.#head, piece);
    return this.#head.length < HEAD_BYTES ? new Uint8Array(0) : this.#begin();
  }

  /** What was kept back. From here on the form is known. */
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

/** Of a beginning, or of a whole text: what `CsvText` makes of it, as text, and the separator. */
export function csvTextOf(begin: Uint8Array): { readonly text: string; readonly separator: CsvSeparator } {
  const reader = new CsvText();
  const bytes = joined(reader.read(begin), reader.end());
  return { text: new TextDecoder().decode(bytes), separator: reader.form?.separator ?? ',' };
}

/** By the first 64 KiB of a text, or by all of a shorter one. */
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

/** A return within quotes is one of a cell; one at the very end may be the first half of what Windows writes. */
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
 * What is no UTF-8 is taken for what Windows writes in western Europe: where each letter is one byte, nothing tells of which alphabet it is. A text of
 * UTF-8 stays one where some of it is broken: two letters of Windows hardly ever look like one of UTF-8.
 */
function encodingOf(head: Uint8Array): CsvForm['encoding'] {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (isMarked(head)) return 'utf-8';
  // Without a mark: a heading of English letters has every other byte empty, and no text of another encoding has empty bytes.
  if (hasEmpty(head, 1)) return 'utf-16le';
  if (hasEmpty(head, 0)) return 'utf-16be';
  if (isWhole(head)) return 'utf-8';
  // Of a letter that the head ends within, the rest is still to come.
  const text = new TextDecoder('utf-8').decode(head, { stream: true });
  let [letters, faults] = [0, 0];
  for (const letter of text) {
    if (letter === '\ufffd') faults += 1;
    else if (letter > '\u007f') letters += 1;
  }
  return letters >= faults ? 'utf-8' : 'windows-1252';
}

/** Whether all of it is UTF-8: a sign for what could not be read (U+FFFD) may be one of the text itself. */
function isWhole(head: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Of the first two letters, the byte at this place, and not the other one. */
function hasEmpty(head: Uint8Array, at: 0 | 1): boolean {
  return [0, 2].every((begin) => head[begin + at] === 0 && (head[begin + 1 - at] ?? 0) !== 0);
}

/** The one that the first row that is not empty has most of outside quotes; a comma where it has none. */
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
