/**
 * Reads pictures in processes of their own, as many at a time as it may; the others wait, and those that somebody searches by go first. A
 * process that takes too long or too much memory is killed, and its picture is told as such. Main thread only.
 */
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { CallTimedOutError, createChildProcess, HostPool, type Host } from '../platform/hosts/index.js';
import { compiledFile, packageRoot, ServiceError } from '../platform/index.js';
import type { PictureProtocol } from './picture-protocol.js';
import { PictureError, type DescribedPicture, type PictureLimits } from './types.js';

const HEAP_MIB_MAX = 128;
const NICENESS = 5;
/** Longer than the pauses of somebody who searches by one picture after the other. */
const IDLE_MS_MAX = 60_000;
/** To come up, on a busy machine. */
const READY_MS_MAX = 60_000;
/** Pictures that are searched by and wait. */
const SEARCHES_WAITING_MAX = 64;
const TOO_MUCH_MEMORY = /took more than \d+ MiB/;

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
  readonly #limits: PictureLimits;
  readonly #pool: HostPool<PictureProtocol>;

  constructor({ processes, memoryMibMax, limits, onDeath, onBug }: PictureReaderOptions) {
    this.#limits = limits;
    const hosts = Array.from({ length: processes }, () =>
      createChildProcess<PictureProtocol>({
        name: 'pictures',
        entry: compiledFile('src/pictures/picture.worker'),
        data: null,
        heapMibMax: HEAP_MIB_MAX,
        memoryMibMax,
        niceness: NICENESS,
        idleMsMax: IDLE_MS_MAX,
        // One thread decodes; glibc gives each its own arenas otherwise, which keep what is freed.
        env: { VIPS_CONCURRENCY: '1', MALLOC_ARENA_MAX: '2' },
        readableFolders: [packageRoot(), libraryFolder()],
        mayLoadAddons: true,
        onDeath,
        onBug: (_question, stack) => {
          onBug(stack);
        },
      }),
    );
    this.#pool = new HostPool(hosts);
  }

  /**
   * Rejects with a PictureError that says why there is nothing to be seen, with a ServiceError where no process could be started or all are
   * closed, and with the signal's reason.
   */
  async read(bytes: Uint8Array, signal?: AbortSignal): Promise<DescribedPicture> {
    return this.#pool.use((host) => this.#ask(host, bytes, signal), signal);
  }

  /** The same of a picture that is searched by: `overloaded` where too many wait. */
  async readToSearch(bytes: Uint8Array, signal?: AbortSignal): Promise<DescribedPicture> {
    if (this.#pool.waitingFirst >= SEARCHES_WAITING_MAX)
      throw new ServiceError('overloaded', 'Too many pictures wait to be searched by.');
    return this.#pool.use((host) => this.#ask(host, bytes, signal), signal, { first: true });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async #ask(host: Host<PictureProtocol>, bytes: Uint8Array, signal: AbortSignal | undefined) {
    await host.call('ready', null, { msMax: READY_MS_MAX, ...(signal === undefined ? {} : { signal }) });
    signal?.throwIfAborted();
    const limits = this.#limits;
    // It hears nothing while it decodes.
    const stop = () => {
      host.kill('was killed because nobody wants its picture any more');
    };
    signal?.addEventListener('abort', stop, { once: true });
    try {
      const answer = await host.call('read', { bytes, limits }, { msMax: limits.msMax });
      if ('fault' in answer) throw new PictureError(answer.fault, answer.message);
      return answer;
    } catch (error) {
      signal?.throwIfAborted();
      throw asFaultOfPicture(error, limits);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }
}

/** Of the library and of its binaries, which lie beside it. */
function libraryFolder(): string {
  return dirname(dirname(dirname(createRequire(import.meta.url).resolve('sharp'))));
}

/** The process was ready before it was asked, so its death is the picture's doing. */
function asFaultOfPicture(error: unknown, { msMax }: PictureLimits): unknown {
  if (error instanceof CallTimedOutError)
    return new PictureError('timed-out', `The picture could not be decoded in ${msMax} ms`);
  if (!(error instanceof ServiceError) || error.code !== 'internal-error') return error;
  const reason = error.cause instanceof Error ? error.cause.message : '';
  return TOO_MUCH_MEMORY.test(reason)
    ? new PictureError('too-large', 'The picture needs more memory than there is for one')
    : new PictureError('damaged', 'Reading the picture ended the process that read it');
}
