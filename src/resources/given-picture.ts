/** The picture that somebody searches by: the body of a request, a file of the account's media stores, or one of the web. */
import { PictureError, type DescribedPicture, type PictureReader } from '../pictures/index.js';
import { ServiceError, type Cancellation } from '../platform/index.js';
import type { FetchedFile, FileSource } from './fetched-file.js';
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

  /** Rejects with `picture-unreadable`, `overloaded`, and the signal's reason. */
  async read(bytes: Uint8Array, cancellation: Cancellation): Promise<DescribedPicture> {
    try {
      return await withSignal(cancellation, (signal) => this.options.pictures.readToSearch(bytes, signal));
    } catch (error) {
      if (error instanceof PictureError) throw unreadable(`${error.message} (${error.fault}).`);
      throw error;
    }
  }

  /** Of a URL, or of `media:<store>/<path>`. Rejects as `read` does. */
  async fetched(account: string, url: string, cancellation: Cancellation): Promise<DescribedPicture> {
    const { bytesMax, media, web } = this.options;
    const source = mediaPlace(url) === undefined ? web : media;
    const room = () => Promise.resolve();
    const file = await withSignal(cancellation, (signal) =>
      source({ account, url, known: undefined, bytesMax, room, signal }),
    );
    return this.read(bytesOf(file), cancellation);
  }
}

function bytesOf(file: FetchedFile): Uint8Array {
  if (file.kind === 'bytes') return file.bytes;
  if (file.kind === 'same') throw new Error('a file that nobody knew is told as unchanged');
  throw unreadable(`${file.detail} (${file.error})`);
}

function unreadable(detail: string): ServiceError {
  return new ServiceError(PICTURE_UNREADABLE, detail);
}

/** What ends with the request ends what was begun for it. */
async function withSignal<Result>(
  cancellation: Cancellation,
  action: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const abort = () => {
    controller.abort(cancellation.reason);
  };
  if (cancellation.aborted) abort();
  cancellation.addEventListener('abort', abort);
  try {
    return await action(controller.signal);
  } finally {
    cancellation.removeEventListener('abort', abort);
  }
}
