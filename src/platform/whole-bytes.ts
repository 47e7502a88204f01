/**
 * Reads and writes at a place of a file, in full: one call of the system may do less than it was asked for, on a
 * network file system or when a signal comes. Nothing else reads or writes a number of bytes by itself.
 */
import { readSync, writeSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';

/**
 * Fills the buffer from the file's bytes at `position`. Resolves with the number of bytes, which is less than the
 * buffer's only at the end of the file. Rejects with system errors.
 */
export async function readFully(file: FileHandle, buffer: Uint8Array, position: number): Promise<number> {
  let done = 0;
  while (done < buffer.byteLength) {
    const { bytesRead } = await file.read(buffer, done, buffer.byteLength - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

/** As `readFully`, for a descriptor. Throws system errors. */
export function readFullySync(file: number, buffer: Uint8Array, position: number): number {
  let done = 0;
  while (done < buffer.byteLength) {
    const bytesRead = readSync(file, buffer, done, buffer.byteLength - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

/** Writes all bytes at `position`. Rejects with system errors, after which some of them may be written. */
export async function writeFully(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength;)
    done += (await file.write(bytes, done, bytes.byteLength - done, position + done)).bytesWritten;
}

/**
 * As `writeFully`, for a descriptor. `position`: null writes behind what was written last. Throws system errors.
 */
export function writeFullySync(file: number, bytes: Uint8Array, position: number | null): void {
  for (let done = 0; done < bytes.byteLength;)
    done += writeSync(file, bytes, done, bytes.byteLength - done, position === null ? null : position + done);
}
