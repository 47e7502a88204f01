/** Reads pictures in processes of their own (`FileProcesses`); those that somebody searches by go first. Main thread only. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { FileProcesses } from '../platform/hosts/index.js';
import { compiledFile, packageRoot, ServiceError } from '../platform/index.js';
import { PictureError, type DescribedPicture, type PictureFault, type PictureLimits } from './types.js';

const HEAP_MIB_MAX = 128;
const NICENESS = 5;
/** Longer than the pauses of somebody who searches by one picture after the other. */
const IDLE_MS_MAX = 60_000;
/** Pictures that are searched by and wait. */
const SEARCHES_WAITING_MAX = 64;

export interface PictureReaderOptions {
  readonly processes: number;
  /** Resident memory of each. */
  readonly memoryMibMax: number;
  readonly limits: PictureLimits;
  /** A process that ended by itself or was killed; its pictures are told elsewhere. */
  readonly onDeath: (error: Error) => void;
  /** An error of the program in a process, and where. */
  readonly onBug: (stack: string) => void;
}

export class PictureReader {
  readonly #processes: FileProcesses<DescribedPicture, PictureLimits, PictureFault>;

  constructor({ processes, memoryMibMax, limits, onDeath, onBug }: PictureReaderOptions) {
    this.#processes = new FileProcesses({
      noun: 'picture',
      processes,
      limits,
      host: {
        name: 'pictures',
        entry: compiledFile('src/pictures/picture.worker'),
        heapMibMax: HEAP_MIB_MAX,
        memoryMibMax,
        niceness: NICENESS,
        idleMsMax: IDLE_MS_MAX,
        // One thread decodes; glibc gives each its own arenas otherwise, which keep what is freed.
        env: { VIPS_CONCURRENCY: '1', MALLOC_ARENA_MAX: '2' },
        readableFolders: [packageRoot(), libraryFolder()],
        mayLoadAddons: true,
        onDeath,
      },
      onBug,
      asError: (fault, message) => new PictureError(fault, message),
    });
  }

  /** As `FileProcesses.read`, with a PictureError. */
  read(bytes: Uint8Array, signal?: AbortSignal): Promise<DescribedPicture> {
    return this.#processes.read(bytes, signal);
  }

  /** The same of a picture that is searched by: `overloaded` where too many wait. */
  async readToSearch(bytes: Uint8Array, signal?: AbortSignal): Promise<DescribedPicture> {
    if (this.#processes.waitingFirst >= SEARCHES_WAITING_MAX)
      throw new ServiceError('overloaded', 'Too many pictures wait to be searched by.');
    return this.#processes.read(bytes, signal, { first: true });
  }

  close(): Promise<void> {
    return this.#processes.close();
  }
}

/** Of the library and of its binaries, which lie beside it. */
function libraryFolder(): string {
  return dirname(dirname(dirname(createRequire(import.meta.url).resolve('sharp'))));
}
