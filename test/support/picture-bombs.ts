/** Small files that claim, or unpack to, far more than is allowed for a picture. */
import { crc32, deflateSync } from 'node:zlib';

const MEBIBYTE = 2 ** 20;
const SIDE = 65_000;

/** A grey PNG that claims this size; `packed` is its image data. */
export function pngOf(width: number, height: number, packed: Uint8Array, before: readonly Buffer[] = []): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  const chunks = [chunk('IHDR', header), ...before, chunk('IDAT', packed), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([signature, ...chunks]);
}

export function chunk(name: string, content: Uint8Array): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(content.length);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([head, named, sum]);
}

const zeros = (mebibytes: number) => deflateSync(Buffer.alloc(mebibytes * MEBIBYTE));

/** Each row of a grey PNG begins with the number of a filter. */
const greyRows = (side: number) => deflateSync(Buffer.alloc(side * (side + 1)));

/** Claims a size without any content. */
function gif(): Buffer {
  const head = Buffer.from('GIF89a\0\0\0\0\0\0\0,\0\0\0\0\0\0\0\0\0', 'latin1');
  for (const at of [6, 8, 18, 20]) head.writeUInt16LE(SIDE, at);
  return Buffer.concat([head, Buffer.from([2, 2, 0x4c, 1, 0, 0x3b])]);
}

/** The header of a baseline JPEG without content. */
function jpeg(): Buffer {
  const frame = Buffer.from('\xff\xd8\xff\xc0\0\x0b\x08\0\0\0\0\x01\x01\x11\0', 'latin1');
  frame.writeUInt16BE(SIDE, 7);
  frame.writeUInt16BE(SIDE, 9);
  return Buffer.concat([frame, Buffer.from('\xff\xda\0\x08\x01\x01\0\0\x3f\0', 'latin1'), Buffer.alloc(64)]);
}

/** Bombs by name. `side` is that of a picture that really has too many pixels. */
export function pictureBombs(side: number): Readonly<Record<string, Buffer>> {
  return {
    'png-that-claims': pngOf(SIDE, SIDE, zeros(1)),
    'png-that-unpacks': pngOf(side, side, greyRows(side)),
    'png-with-more-than-it-says': pngOf(100, 100, zeros(64)),
    'png-with-a-text': pngOf(100, 100, greyRows(100), [
      chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0', 'latin1'), zeros(64)])),
    ]),
    'gif-that-claims': gif(),
    'jpeg-that-claims': jpeg(),
  };
}
