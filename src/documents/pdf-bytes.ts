/** What bytes say of themselves: a PDF is one by its content, whatever its name or its server calls it. */

/** Readers take a header that stands behind other bytes, as far as this. */
const HEADER_WITHIN = 1024;
const TRAILER_WITHIN = 2048;
const HEADER = Buffer.from('%PDF-');
/** Where there is none. It moves every offset, which is then found out and put right by looking for the objects. */
const MADE_HEADER = Buffer.from('%PDF-1.4\n');

/** The bytes to be read as a PDF: the same, or with the header that they lack; undefined where they are none. */
export function asPdf(bytes: Uint8Array): Uint8Array | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, HEADER_WITHIN).includes(HEADER)) return bytes;
  const end = buffer.subarray(-TRAILER_WITHIN).toString('latin1');
  if (!/\bstartxref\s+\d+\s+%%EOF/.test(end) || !/\bobj\b/.test(end + buffer.toString('latin1', 0, HEADER_WITHIN)))
    return undefined;
  return Buffer.concat([MADE_HEADER, buffer]);
}
