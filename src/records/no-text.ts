/**
 * Detects files that are not text by their first bytes, so that a client that sends one as records is told what it is,
 * instead of an error for each line.
 */

export type NoTextKind = 'picture' | 'pdf' | 'workbook' | 'packed' | 'table';

export interface NoText {
  readonly kind: NoTextKind;
  /** Description for a sentence: `a PNG picture`. */
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

/** Number of bytes at the beginning that are needed. */
export const NO_TEXT_BYTES = Math.max(...BEGINNINGS.map(([begin]) => begin.length));

/** What the service recommends instead. */
export const INSTEAD: Readonly<Record<NoTextKind, string>> = {
  picture: 'a record links to it, in a field that is a resource of the kind image',
  pdf: 'a record links to it, in a field that is a resource of the kind document',
  workbook: 'save it as CSV',
  packed: 'send it unpacked',
  table: 'write its rows as CSV or NDJSON',
};

/**
 * Undefined if it may be text. Beginnings that consist of letters, such as BZh, may also begin a text of records: they
 * count only if bytes follow that no text has.
 */
export function noTextOf(bytes: Uint8Array): NoText | undefined {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, NO_TEXT_BYTES)).toString('latin1');
  const found = BEGINNINGS.find(([begin]) => text.startsWith(begin));
  if (found === undefined) return undefined;
  const [begin, kind, what] = found;
  if (kind === 'pdf' || !isPlain(begin)) return { kind, what };
  // Nothing but printable characters: a header that begins with these letters.
  return isPlain(text) ? undefined : { kind, what };
}

/** True for printable ASCII characters and white space. */
function isPlain(text: string): boolean {
  return [...text].every((letter) => (letter >= ' ' && letter <= '~') || '\t\n\r'.includes(letter));
}
