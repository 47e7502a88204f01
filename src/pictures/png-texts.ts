/**
 * Removes text chunks from PNG files. Compressed texts may expand a thousandfold, and the decoder unpacks each, however
 * small the picture: a file of 10 MB could keep it busy until its time limit.
 */
const SIGNATURE_BYTES = 8;
const NAME_BYTES = 4;
/** Length, name and checksum of a chunk. */
const AROUND_CHUNK_BYTES = 12;
const TEXTS: readonly string[] = ['tEXt', 'zTXt', 'iTXt'];

/** Returns the same bytes if there are no texts. An invalid PNG is left unchanged for the decoder to report. */
export function withoutTexts(png: Uint8Array): Uint8Array {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  const kept: Buffer[] = [];
  let keptFrom = 0;
  for (let at = SIGNATURE_BYTES; at + AROUND_CHUNK_BYTES <= bytes.length;) {
    const end = at + AROUND_CHUNK_BYTES + bytes.readUInt32BE(at);
    if (end > bytes.length) break;
    if (TEXTS.includes(bytes.toString('latin1', at + NAME_BYTES, at + 2 * NAME_BYTES))) {
      kept.push(bytes.subarray(keptFrom, at));
      keptFrom = end;
    }
    at = end;
  }
  return keptFrom === 0 ? png : Buffer.concat([...kept, bytes.subarray(keptFrom)]);
}
