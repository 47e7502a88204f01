/** Parts of mail messages. */

/** Returns a text nested in that many multiparts. */
export function nested(depth: number): string {
  if (depth === 0) return 'Content-Type: text/plain\r\n\r\nDeep inside\r\n';
  const boundary = `b${depth}`;
  return `Content-Type: multipart/mixed; boundary=${boundary}\r\n\r\n--${boundary}\r\n${nested(depth - 1)}--${boundary}--\r\n`;
}

/** Headers of a message with a text and a PDF, whose bytes are to be appended. */
export const ATTACHED_PDF = [
  'Content-Type: multipart/mixed; boundary=x',
  '',
  '--x',
  'Content-Type: text/plain',
  '',
  'See the file',
  '--x',
  'Content-Type: application/pdf; name="big.pdf"',
  'Content-Disposition: attachment; filename="big.pdf"',
  'Content-Transfer-Encoding: base64',
  '',
];
