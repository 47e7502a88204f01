/** Picture of a search by picture: a request body, a file of the account's media stores, or one on the web. */
import { mediaPlace } from '../fields/index.js';
import { PictureError } from '../pictures/index.js';
import { ServiceError, withSignal, type ByteBudget, type Cancellation, type Reservation } from '../platform/index.js';
import { ModelError } from '../vectors/index.js';
import { MEMORY_A_FILE_BYTE, type FetchedFile, type FileSource, type FileWanted } from './fetched-file.js';
import type { PictureModels } from './picture-models.js';
import { IMAGE_MODEL_UNAVAILABLE, PICTURE_UNREADABLE } from './picture-problems.js';

export interface GivenPicturesOptions {
  readonly pictures: Pick<PictureModels, 'vectorToSearch'>;
  readonly web: FileSource;
  readonly media: FileSource;
  readonly bytesMax: number;
}

export class GivenPictures {
  constructor(private readonly options: GivenPicturesOptions) {}

  /**
   * Fetches the file at a URL or `media:<store>/<path>`. It counts against `memory` like a request body until
   * `release`.
   */
  async fetched(
    { account, url }: Pick<FileWanted, 'account' | 'url'>,
    memory: ByteBudget,
    cancellation: Cancellation,
  ): Promise<{ readonly bytes: Uint8Array; readonly release: () => void }> {
    const { bytesMax, media, web } = this.options;
    const source = mediaPlace(url) === undefined ? web : media;
    const held = new HeldFile(memory);
    const { room, release } = held;
    try {
      const file = await withSignal(cancellation, (signal) => {
        signal.addEventListener('abort', release);
        return source({ account, url, known: undefined, bytesMax, room, signal });
      });
      // A refusal for lack of memory takes precedence over what the source made of it.
      if (held.refusal !== undefined) throw held.refusal;
      return { bytes: bytesOf(file), release };
    } catch (error) {
      release();
      throw error;
    }
  }

  /**
   * Returns the picture's vector for each model by which the lists' pictures are searched. Rejects with
   * `body-too-large`, `picture-unreadable`, `image-model-unavailable`, `overloaded`, and the signal's reason.
   */
  async vectors(
    bytes: Uint8Array,
    { account, searchedBy }: { readonly account: string; readonly searchedBy: readonly SearchedBy[] },
    cancellation: Cancellation,
  ): Promise<ReadonlyMap<string, Float32Array>> {
    const { bytesMax, pictures } = this.options;
    if (bytes.length > bytesMax)
      throw new ServiceError('body-too-large', `A picture can have at most ${bytesMax} bytes.`);
    const each = new Map(searchedBy.map((by) => [by.modelVersion, by]));
    const vectors = new Map<string, Float32Array>();
    try {
      for (const by of each.values())
        vectors.set(
          by.modelVersion,
          await withSignal(cancellation, (signal) => pictures.vectorToSearch(bytes, { ...by, account }, signal)),
        );
      return vectors;
    } catch (error) {
      if (error instanceof PictureError) throw unreadable(`${error.message} (${error.fault}).`);
      if (error instanceof ModelError) throw new ServiceError(IMAGE_MODEL_UNAVAILABLE, error.message, { cause: error });
      throw error;
    }
  }
}

/** Model by which a list's pictures are searched. */
export interface SearchedBy {
  readonly model: string;
  readonly modelVersion: string;
}

/** Memory for one file, reserved once its size is known. */
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

  /** Also cancels the wait for memory. */
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
