/** Reads pictures in processes of their own (`FileProcesses`); those that somebody searches by go first. Main thread only. */
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
/** Longer than the pauses of somebody who searches by one picture after the other. */
const IDLE_MS_MAX = 60_000;
/** Pictures that are searched by and wait. */
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
  async read(bytes: Uint8Array, signal?: AbortSignal): Promise<DescribedPicture> {
    return (await this.#processes.read(bytes, signal)) as DescribedPicture;
  }

  /** The same, with its pixels as somebody wants them. */
  async readPixels(bytes: Uint8Array, shape: PictureShape, signal?: AbortSignal): Promise<ShapedPicture> {
    return (await this.#processes.read(bytes, signal, { limits: { ...this.#limits, shape } })) as ShapedPicture;
  }

  /** The same of a picture that is searched by: `overloaded` where too many wait. */
  async readToSearch(bytes: Uint8Array, signal?: AbortSignal): Promise<DescribedPicture> {
    this.#assertRoom();
    return (await this.#processes.read(bytes, signal, { first: true })) as DescribedPicture;
  }

  /** The same, with its pixels. */
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
      throw new ServiceError('overloaded', 'Too many pictures wait to be searched by.');
  }
}

/** Of the library and of its binaries, which lie beside it. */
function libraryFolder(): string {
  return dirname(dirname(dirname(createRequire(import.meta.url).resolve('sharp'))));
}
