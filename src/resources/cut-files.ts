/**
 * Detects truncated files of formats that reveal it. For responses without length and end marker, in which an early
 * close of the connection looks like the end of the file.
 */

/** A PDF may have some bytes after its end mark. */
const PDF_TAIL_BYTES = 4096;
/** Readers accept a PDF header within so many bytes. */
const PDF_HEAD_BYTES = 1024;
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const RIFF_HEAD_BYTES = 8;

/** True if the file is truncated. False if the format is unknown or does not reveal it. */
export function isCutOff(file: Uint8Array): boolean {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.subarray(0, PDF_HEAD_BYTES).includes('%PDF-')) return !bytes.subarray(-PDF_TAIL_BYTES).includes('%%EOF');
  if (bytes.subarray(0, PNG.length).equals(PNG)) return !bytes.includes('IEND');
  if (bytes.length >= RIFF_HEAD_BYTES && bytes.toString('latin1', 0, 4) === 'RIFF')
    return bytes.readUInt32LE(4) > bytes.length - RIFF_HEAD_BYTES;
  return endsAmidBoxes(bytes);
}

/** ISO base media (MP4, MOV, HEIC, AVIF): a sequence of boxes that state their length. */
function endsAmidBoxes(bytes: Buffer): boolean {
  if (bytes.toString('latin1', 4, 8) !== 'ftyp') return false;
  for (let at = 0; at < bytes.length;) {
    if (at + 8 > bytes.length) return true;
    const short = bytes.readUInt32BE(at);
    // The box extends to the end of the file.
    if (short === 0) return false;
    if (short === 1 && at + 16 > bytes.length) return true;
    const size = short === 1 ? Number(bytes.readBigUInt64BE(at + 8)) : short;
    // Invalid, but not truncated.
    if (size < 8) return false;
    at += size;
    if (at > bytes.length) return true;
  }
  return false;
}
