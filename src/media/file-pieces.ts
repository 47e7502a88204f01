/** Reading and writing files in pieces. */
import { PIECE_BYTES } from './media-store.js';

export interface ReadableFile {
  read(buffer: Uint8Array, offset: number, length: number, position: number): Promise<{ readonly bytesRead: number }>;
}

export interface WritableFile {
  write(piece: Uint8Array, offset: number): Promise<{ readonly bytesWritten: number }>;
}

/** Yields the bytes from `begin` to `end` in pieces; fewer if the file ends before. Each piece has its own memory. */
export async function* piecesOf(handle: ReadableFile, begin: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = begin; at < end;) {
    const buffer = Buffer.allocUnsafeSlow(Math.min(PIECE_BYTES, end - at));
    const { bytesRead } = await handle.read(buffer, 0, buffer.byteLength, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Appends the whole piece, after partial writes too. */
export async function writePiece(handle: WritableFile, piece: Uint8Array): Promise<void> {
  for (let at = 0; at < piece.byteLength;) at += (await handle.write(piece, at)).bytesWritten;
}
