/** The picture that somebody searches by: the body of a request, a file of the account's media stores, or one of the web. */
import { PictureError, type DescribedPicture, type PictureReader } from '../pictures/index.js';
import { ServiceError, withSignal, type ByteBudget, type Cancellation, type Reservation } from '../platform/index.js';
import { MEMORY_A_FILE_BYTE, type FetchedFile, type FileSource, type FileWanted } from './fetched-file.js';
import { mediaPlace } from './media-files.js';
import { PICTURE_UNREADABLE } from './picture-problems.js';

export interface GivenPicturesOptions {
  readonly pictures: Pick<PictureReader, 'readToSearch'>;
  readonly web: FileSource;
  readonly media: FileSource;
  readonly bytesMax: number;
}

export class GivenPictures {
  constructor(private readonly options: GivenPicturesOptions) {}

  /** Rejects with `body-too-large`, `picture-unreadable`, `overloaded`, and the signal's reason. */
  async read(bytes: Uint8Array, cancellation: Cancellation): Promise<DescribedPicture> {
    const { bytesMax } = this.options;
    if (bytes.length > bytesMax) throw new ServiceError('body-too-large', `A picture has at most ${bytesMax} bytes.`);
    try {
      return await withSignal(cancellation, (signal) => this.options.pictures.readToSearch(bytes, signal));
    } catch (error) {
      if (error instanceof PictureError) throw unreadable(`${error.message} (${error.fault}).`);
      throw error;
    }
  }

  /** Of a URL, or of `media:<store>/<path>`, which is held in memory as the body of a request would be. Rejects as `read` does. */
  async fetched(
    { account, url }: Pick<FileWanted, 'account' | 'url'>,
    memory: ByteBudget,
    cancellation: Cancellation,
  ): Promise<DescribedPicture> {
    const { bytesMax, media, web } = this.options;
    const source = mediaPlace(url) === undefined ? web : media;
    const held = new HeldFile(memory);
    const { room } = held;
    try {
      const file = await withSignal(cancellation, (signal) => {
        signal.addEventListener('abort', held.release);
        return source({ account, url, known: undefined, bytesMax, room, signal });
      });
      // What a source makes of a refusal is said of the file.
      if (held.refusal !== undefined) throw held.refusal;
      return await this.read(bytesOf(file), cancellation);
    } finally {
      held.release();
    }
  }
}

/** Room for one file, once it is known how large it is. */
class HeldFile {
  refusal: Error | undefined;
  private reservation: Reservation | undefined;

  constructor(private readonly memory: ByteBudget) {}

  readonly room = async (bytes: number): Promise<void> => {
    try {
      this.reservation = this.memory.reserve(MEMORY_A_FILE_BYTE * bytes);
      await this.reservation.ready;
    } catch (error) {
      this.refusal = error as Error;
      throw error;
    }
  };

  /** Also ends the waiting for it. */
  readonly release = (): void => this.reservation?.release();
}

function bytesOf(file: FetchedFile): Uint8Array {
  if (file.kind === 'bytes') return file.bytes;
  if (file.kind === 'same') throw new Error('a file that nobody knew is told as unchanged');
  throw unreadable(`${file.detail} (${file.error})`);
}

function unreadable(detail: string): ServiceError {
  return new ServiceError(PICTURE_UNREADABLE, detail);
}
