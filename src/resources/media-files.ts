/** Fetches files of the account's media stores: `media:<store>/<path>`. */
import { mediaPlace } from '../fields/index.js';
import { MEDIA_STORE_NOT_FOUND, pathFault, type MediaStores, type OpenFile } from '../media/index.js';
import { ServiceError } from '../platform/index.js';
import { tooLarge, type FetchedFile, type FileSource, type FileWanted } from './fetched-file.js';

export function mediaFiles(stores: Pick<MediaStores, 'open'>): FileSource {
  return async (wanted) => {
    try {
      return await fetched(stores, wanted);
    } catch (error) {
      wanted.signal.throwIfAborted();
      return failed(error);
    }
  };
}

async function fetched(stores: Pick<MediaStores, 'open'>, wanted: FileWanted): Promise<FetchedFile> {
  const { account, url, known, bytesMax, room, signal } = wanted;
  const { store, path } = mediaPlace(url) ?? { store: '', path: '' };
  const fault = pathFault(path);
  if (fault !== undefined) return { kind: 'unreadable', error: 'not-found', detail: fault };
  const opened = await stores.open(account, store).open(path);
  if (opened === undefined)
    return { kind: 'unreadable', error: 'not-found', detail: 'The media store has no such file.' };
  try {
    const { bytes, etag } = opened.file;
    const validators = { etag: `"${etag}"` };
    if (known?.validators.etag === validators.etag) return { kind: 'same', validators };
    if (bytes > bytesMax) return tooLarge(bytesMax, validators);
    await room(bytes);
    return { kind: 'bytes', bytes: await allOf(opened, signal), validators };
  } finally {
    await opened.close();
  }
}

async function allOf(opened: OpenFile, signal: AbortSignal): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for await (const piece of opened.pieces()) {
    signal.throwIfAborted();
    // Copied, since the next piece may reuse the memory.
    pieces.push(Uint8Array.from(piece));
  }
  return Buffer.concat(pieces);
}

function failed(error: unknown): FetchedFile {
  if (!(error instanceof ServiceError)) throw error;
  const { code, detail } = error;
  if (code === MEDIA_STORE_NOT_FOUND.code || code === 'invalid-name')
    return { kind: 'unreadable', error: 'not-found', detail };
  if (code === 'storage-damaged') return { kind: 'unreadable', error: 'damaged', detail };
  return { kind: 'unreachable', error: 'timed-out', detail };
}
