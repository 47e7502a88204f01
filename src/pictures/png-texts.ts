/**
 * PNG files without the texts in them. Texts are packed, unpack to a thousand times their length, and the decoder unpacks each, however small the
 * picture is: a file of 10 MB keeps it at work for as long as it is given.
 */
const SIGNATURE_BYTES = 8;
const NAME_BYTES = 4;
/** Its length, name and checksum. */
const AROUND_CHUNK_BYTES = 12;
const TEXTS: readonly string[] = ['tEXt', 'zTXt', 'iTXt'];

/** The same bytes where there are no texts. What is not as a PNG has to be stays as it is: the decoder tells. */
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
