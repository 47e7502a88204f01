/** Files that are written on this machine: one that was there before stays until the new one is whole. */
import { createWriteStream, type WriteStream } from 'node:fs';
import { chmod, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { unfinishedFile } from './unfinished-files.js';

/** Where a folder takes no further file, the one that is there is written as it is. */
const NO_FILE_BESIDE: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS']);

let made = 0;

/** A file under way. `stream` tells of what goes wrong in its events. */
export interface FileUnderWay {
  readonly stream: WriteStream;
  /** It gets its name; once the stream has ended. */
  keep(): Promise<void>;
  /** Nothing of it is left; what was there before is as it was. */
  abandon(): Promise<void>;
}

/** Resolves when it may be written, or its stream has failed. A pipe or a device is written to at once: nothing can take its place. */
export async function beginFile(path: string): Promise<FileUnderWay> {
  const target = await targetOf(path);
  if (target.isFile) {
    const temporary = join(dirname(target.path), `.gannet-${process.pid}-${(made += 1)}.part`);
    const stream = createWriteStream(temporary, { flags: 'wx', flush: true });
    const finished = unfinishedFile(temporary);
    const failure = await opened(stream);
    if (failure !== undefined) finished();
    if (failure === undefined || !(target.mode !== undefined && NO_FILE_BESIDE.has(failure.code))) {
      return {
        stream,
        keep: async () => {
          // Whoever could read the one before can read this one.
          if (target.mode !== undefined) await chmod(temporary, target.mode);
          await rename(temporary, target.path);
          finished();
        },
        abandon: async () => {
          stream.destroy();
          if (failure === undefined) await rm(temporary, { force: true });
          finished();
        },
      };
    }
  }
  const stream = createWriteStream(path);
  await opened(stream);
  const abandon = () => Promise.resolve(void stream.destroy());
  return { stream, keep: () => Promise.resolve(), abandon };
}

/** It appears under its name when it is whole; where it does not become so, nothing of it is left. */
export async function saveWhole(pieces: AsyncIterable<Uint8Array>, path: string): Promise<void> {
  const file = await beginFile(path);
  try {
    await pipeline(pieces, file.stream);
    await file.keep();
  } catch (error) {
    await file.abandon();
    throw error;
  }
}

interface Target {
  /** Behind links. */
  readonly path: string;
  readonly isFile: boolean;
  /** Of what is there. */
  readonly mode: number | undefined;
}

async function targetOf(path: string): Promise<Target> {
  try {
    const found = await stat(path);
    return { path: await realpath(path), isFile: found.isFile(), mode: found.mode & 0o7777 };
  } catch {
    // What is wrong with it shows when it is written.
    return { path, isFile: true, mode: undefined };
  }
}

function opened(stream: WriteStream): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    stream.once('open', () => {
      resolve(undefined);
    });
    stream.once('error', resolve);
  });
}
