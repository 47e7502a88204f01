/** Recognises PDFs by their content, whatever their name or content type. */

/** Offset within which readers accept the header. */
const HEADER_WITHIN = 1024;
const TRAILER_WITHIN = 2048;
const HEADER = Buffer.from('%PDF-');
/** Header for files that lack one. It shifts every offset, which PDFium notices and repairs by scanning for objects. */
const MADE_HEADER = Buffer.from('%PDF-1.4\n');

/** Returns the bytes to read as a PDF: unchanged, or with a missing header added. Undefined if they are no PDF. */
export function asPdf(bytes: Uint8Array): Uint8Array | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.subarray(0, HEADER_WITHIN).includes(HEADER)) return bytes;
  const end = buffer.subarray(-TRAILER_WITHIN).toString('latin1');
  if (!/\bstartxref\s+\d+\s+%%EOF/.test(end) || !/\bobj\b/.test(end + buffer.toString('latin1', 0, HEADER_WITHIN)))
    return undefined;
  return Buffer.concat([MADE_HEADER, buffer]);
}
