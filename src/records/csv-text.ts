/**
 * CSV as spreadsheets write it: cells behind commas, semicolons or tabs, as the country has it, and letters in UTF-8, UTF-16 or the encoding of
 * Windows. Both are known by how a text begins. Runs in browsers, too.
 */
export type CsvSeparator = ',' | ';' | '\t';

/** Of those that a row has as often, the first is its separator: a heading has tabs for no other reason. */
const SEPARATORS: readonly CsvSeparator[] = ['\t', ',', ';'];
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
/** Of the beginning, by which it is known how a text was written. */
const HEAD_BYTES = 65_536;

export interface CsvForm {
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';
  readonly separator: CsvSeparator;
}

/** Takes a text piece by piece; gives it in UTF-8 from where `form` is known. */
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
    return this.#utf8(this.#head);
  }

  #utf8(piece: Uint8Array): Uint8Array {
    return this.#decoder === undefined ? piece : this.#encoder.encode(this.#decoder.decode(piece, { stream: true }));
  }
}

/** By the first 64 KiB of a text, or by all of a shorter one. */
export function csvFormOf(head: Uint8Array): CsvForm {
  const begin = head.subarray(0, HEAD_BYTES);
  const encoding = encodingOf(begin);
  return { encoding, separator: separatorOf(new TextDecoder(encoding).decode(begin)) };
}

/**
 * What is no UTF-8 is taken for what Windows writes in western Europe: where each letter is one byte, nothing tells of which alphabet it is. A text of
 * UTF-8 stays one where some of it is broken: two letters of Windows hardly ever look like one of UTF-8.
 */
function encodingOf(head: Uint8Array): CsvForm['encoding'] {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  if (BYTE_ORDER_MARK.every((byte, at) => head[at] === byte)) return 'utf-8';
  // Of a letter that the head ends within, the rest is still to come.
  const text = new TextDecoder('utf-8').decode(head, { stream: true });
  let [letters, faults] = [0, 0];
  for (const letter of text) {
    if (letter === '\ufffd') faults += 1;
    else if (letter > '\u007f') letters += 1;
  }
  return letters >= faults ? 'utf-8' : 'windows-1252';
}

/** The one that the first row has most of outside quotes; a comma where it has none. */
export function separatorOf(text: string): CsvSeparator {
  const counts = new Map<string, number>();
  let isQuoted = false;
  for (const letter of text) {
    if (letter === '"') isQuoted = !isQuoted;
    if (isQuoted) continue;
    if (letter === '\n') break;
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
