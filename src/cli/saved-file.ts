/** Writes files so that an existing file stays until the new one is complete. */
import { randomBytes } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { chmod, readlink, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { unfinishedFile } from './unfinished-files.js';

/** Errors of a folder that allows no new file; the existing file is then overwritten in place. */
const NO_FILE_BESIDE: ReadonlySet<string | undefined> = new Set(['EACCES', 'EPERM', 'EROFS']);
/** Same limit as the system's. */
const LINKS_MAX = 40;
const NAME_RANDOM_BYTES = 8;
const NEW_FILE_MODE = 0o666;

/** A file being written. Errors are events of `stream`. */
export interface FileUnderWay {
  readonly stream: WriteStream;
  /** Gives the file its name. Call when the stream has ended. */
  keep(): Promise<void>;
  /** Removes the unfinished file; an existing file is unchanged. */
  abandon(): Promise<void>;
}

/**
 * Resolves when the file can be written, or its stream has failed. Pipes and devices are written directly, since they
 * cannot be replaced.
 */
export async function beginFile(path: string): Promise<FileUnderWay> {
  const target = await targetOf(path);
  if (target.isFile) {
    // Random, since processes in different containers may have equal ids.
    const name = `.gannet-${randomBytes(NAME_RANDOM_BYTES).toString('hex')}.part`;
    const temporary = join(dirname(target.path), name);
    // The temporary file has no more permissions than the file it replaces.
    const mode = (target.mode ?? NEW_FILE_MODE) & NEW_FILE_MODE;
    const stream = createWriteStream(temporary, { flags: 'wx', flush: true, mode });
    const finished = unfinishedFile(temporary);
    const failure = await opened(stream);
    if (failure !== undefined) finished();
    if (failure === undefined || !(target.mode !== undefined && NO_FILE_BESIDE.has(failure.code))) {
      return {
        stream,
        keep: async () => {
          // The new file gets the permissions of the replaced one.
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

/** Writes a file that appears under its name when it is complete; on failure, nothing is left. */
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
  /** Path after following links. */
  readonly path: string;
  readonly isFile: boolean;
  /** Mode of the existing file. */
  readonly mode: number | undefined;
}

async function targetOf(path: string): Promise<Target> {
  try {
    const found = await stat(path);
    const mode = found.mode & 0o7777;
    // A pipe behind a descriptor (`/dev/stdout`, `>(…)`) has no path, and neither has a deleted file.
    const real = found.isFile() ? await realpath(path).catch(() => undefined) : undefined;
    return { path: real ?? path, isFile: real !== undefined, mode };
  } catch (error) {
    // Errors show when the file is written.
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    const missing = isMissing ? await missingBehindLinks(path) : undefined;
    return { path: missing ?? path, isFile: missing !== undefined, mode: undefined };
  }
}

/** Returns the path of a file to be created. Undefined if its folder does not exist. */
async function missingBehindLinks(path: string): Promise<string | undefined> {
  let place = path;
  for (let links = 0; links <= LINKS_MAX; ++links) {
    const folder = await realpath(dirname(place)).catch(() => undefined);
    if (folder === undefined) return undefined;
    place = join(folder, basename(place));
    const target = await readlink(place).catch(() => undefined);
    if (target === undefined) return links === 0 ? path : place;
    // Not path.join, which would remove `..` before links are followed.
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
