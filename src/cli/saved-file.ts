/** A file that the service answers, on this machine. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** It appears under its name when it is whole; where it does not become so, nothing of it is left. */
export async function saveWhole(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const temporary = `${path}.${process.pid}.part`;
  try {
    await pipeline(pieces, createWriteStream(temporary, { flags: 'wx' }));
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
