/** Reads pictures in separate processes (`FileProcesses`). Pictures of searches go first. Main thread only. */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { FileProcesses, type FileReaderOptions } from '../platform/hosts/index.js';
import { compiledFile, packageRoot, ServiceError } from '../platform/index.js';
import type { PictureShape } from '../vectors/index.js';
import type { PictureReading } from './picture-protocol.js';
import {
  PictureError,
  type DescribedPicture,
  type PictureFault,
  type PictureLimits,
  type ShapedPicture,
} from './types.js';

const HEAP_MIB_MAX = 128;
const NICENESS = 5;
/** Longer than a user's pauses between searches by pictures. */
const IDLE_MS_MAX = 60_000;
/** Limit on waiting pictures of searches. */
const SEARCHES_WAITING_MAX = 64;

export type PictureReaderOptions = FileReaderOptions<PictureLimits>;

export class PictureReader {
  readonly #limits: PictureLimits;
  readonly #processes: FileProcesses<DescribedPicture | ShapedPicture, PictureReading, PictureFault>;

  constructor({ processes, memoryMibMax, limits, onDeath, onBug }: PictureReaderOptions) {
    this.#limits = limits;
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
        // Only one thread decodes. Without a limit, glibc gives every thread arenas that keep freed memory.
        env: { VIPS_CONCURRENCY: '1', MALLOC_ARENA_MAX: '2' },
        readableFolders: [packageRoot(), libraryFolder()],
        mayLoadAddons: true,
        onDeath,
      },
      onBug,
      asError: (fault, message) => new PictureError(fault, message),
    });
  }

  /** Like `FileProcesses.read`, with a PictureError. */
  async read(bytes: Uint8Array, signal?: AbortSignal): Promise<DescribedPicture> {
    return (await this.#processes.read(bytes, signal)) as DescribedPicture;
  }

  /** Like `read`, but returns pixels of a given shape. */
  async readPixels(bytes: Uint8Array, shape: PictureShape, signal?: AbortSignal): Promise<ShapedPicture> {
    return (await this.#processes.read(bytes, signal, { limits: { ...this.#limits, shape } })) as ShapedPicture;
  }

  /** Like `read`, for the picture of a search. Rejects with `overloaded` if too many wait. */
  async readToSearch(bytes: Uint8Array, signal?: AbortSignal): Promise<DescribedPicture> {
    this.#assertRoom();
    return (await this.#processes.read(bytes, signal, { first: true })) as DescribedPicture;
  }

  /** Like `readToSearch`, but returns pixels of a given shape. */
  async readPixelsToSearch(bytes: Uint8Array, shape: PictureShape, signal?: AbortSignal): Promise<ShapedPicture> {
    this.#assertRoom();
    const limits = { ...this.#limits, shape };
    return (await this.#processes.read(bytes, signal, { first: true, limits })) as ShapedPicture;
  }

  close(): Promise<void> {
    return this.#processes.close();
  }

  #assertRoom(): void {
    if (this.#processes.waitingFirst >= SEARCHES_WAITING_MAX)
      throw new ServiceError('overloaded', 'Too many searches by a picture are waiting. Try again soon.');
  }
}

/** Returns the folder of the library and its binaries, which are next to it. */
function libraryFolder(): string {
  return dirname(dirname(dirname(createRequire(import.meta.url).resolve('sharp'))));
}
