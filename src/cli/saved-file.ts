/** Files that are written on this machine: one that was there before stays until the new one is whole. */
import { randomBytes } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { chmod, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { unfinishedFile } from './unfinished-files.js';

/** Where a folder takes no further file, the one that is there is written as it is. */
const NO_FILE_BESIDE: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS']);
/** As many as the system follows. */
const LINKS_MAX = 40;
const NAME_RANDOM_BYTES = 8;
const NEW_FILE_MODE = 0o666;

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
    // Processes of several containers have the same numbers.
    const name = `.gannet-${randomBytes(NAME_RANDOM_BYTES).toString('hex')}.part`;
    const temporary = join(dirname(target.path), name);
    // Nobody reads it meanwhile who could not read the one before.
    const mode = (target.mode ?? NEW_FILE_MODE) & NEW_FILE_MODE;
    const stream = createWriteStream(temporary, { flags: 'wx', flush: true, mode });
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
    const mode = found.mode & 0o7777;
    // A pipe behind a descriptor (`/dev/stdout`, `>(…)`) has no path, and a file there has none any more once it is deleted.
    const real = found.isFile() ? await realpath(path).catch(() => undefined) : undefined;
    return { path: real ?? path, isFile: real !== undefined, mode };
  } catch (error) {
    // What is wrong with it shows when it is written.
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const missing = isMissing ? await missingBehindLinks(path) : undefined;
    return { path: missing ?? path, isFile: missing !== undefined, mode: undefined };
  }
}

/** Where a file comes to lie that is not there yet; undefined where there is no folder for it. */
async function missingBehindLinks(path: string): Promise<string | undefined> {
  let place = path;
  for (let links = 0; links <= LINKS_MAX; ++links) {
    const folder = await realpath(dirname(place)).catch(() => undefined);
    if (folder === undefined) return undefined;
    place = join(folder, basename(place));
    const target = await readlink(place).catch(() => undefined);
    if (target === undefined) return links === 0 ? path : place;
    // Not joined, which would take `..` away before the links are followed.
    place = isAbsolute(target) ? target : `${folder}/${target}`;
  }
  return undefined;
}

function opened(stream: WriteStream): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    stream.once('open', () => {
      resolve(undefined);
    });
    stream.once('error', resolve);
  });
}
