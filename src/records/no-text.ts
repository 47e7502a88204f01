/** Files that are no text, by how they begin: whoever sends one as records is told what it is, and not of each of its lines that it is none. */

export type NoTextKind = 'picture' | 'pdf' | 'workbook' | 'packed' | 'table';

export interface NoText {
  readonly kind: NoTextKind;
  /** For a sentence: `a PNG picture`. */
  readonly what: string;
}

const BEGINNINGS: readonly (readonly [begin: string, kind: NoTextKind, what: string])[] = [
  ['\x89PNG', 'picture', 'a PNG picture'],
  ['\xff\xd8\xff', 'picture', 'a JPEG picture'],
  ['GIF8', 'picture', 'a GIF picture'],
  ['RIFF', 'picture', 'a WebP picture, or a film or sound'],
  ['%PDF-', 'pdf', 'a PDF'],
  ['PK\x03\x04', 'workbook', 'a ZIP archive, as workbooks of spreadsheets are (.xlsx, .ods)'],
  ['\xd0\xcf\x11\xe0', 'workbook', 'a file of an office program (.xls, .doc)'],
  ['\x1f\x8b', 'packed', 'a packed file (gzip)'],
  ['BZh', 'packed', 'a packed file (bzip2)'],
  ['\xfd7zXZ', 'packed', 'a packed file (xz)'],
  ['\x28\xb5\x2f\xfd', 'packed', 'a packed file (zstd)'],
  ['PAR1', 'table', 'a Parquet file'],
  ['SQLite format 3\x00', 'table', 'a database of SQLite'],
];

/** Of so many bytes at the beginning it is told. */
export const NO_TEXT_BYTES = Math.max(...BEGINNINGS.map(([begin]) => begin.length));

/** What the service says is to be done with one. */
export const INSTEAD: Readonly<Record<NoTextKind, string>> = {
  picture: 'a record links to it, in a field that is a resource of the kind image',
  pdf: 'a record links to it, in a field that is a resource of the kind document',
  workbook: 'save it as CSV',
  packed: 'send it unpacked',
  table: 'write its rows as CSV or NDJSON',
};

/** Undefined for what may be a text. A text of records may begin with letters such as BZh: these count only with what no text has behind them. */
export function noTextOf(bytes: Uint8Array): NoText | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, NO_TEXT_BYTES)).toString('latin1');
  const found = BEGINNINGS.find(([begin]) => text.startsWith(begin));
  if (found === undefined) return undefined;
  const [begin, kind, what] = found;
  if (kind === 'pdf' || !isPlain(begin)) return { kind, what };
  // Nothing but letters: these are a heading.
  return isPlain(text) ? undefined : { kind, what };
}

/** Letters, digits, signs and what separates them. */
function isPlain(text: string): boolean {
  return [...text].every((letter) => (letter >= ' ' && letter <= '~') || '\t\n\r'.includes(letter));
}
