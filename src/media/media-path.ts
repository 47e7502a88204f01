/** Paths of files in a media store: parts separated by slashes, the same for every kind of store. */
import { ServiceError } from '../platform/index.js';
import { FILE_NOT_FOUND } from './media-problems.js';

export const PATH_CHARACTERS_MAX = 512;
/** Bytes in UTF-8 that fit into an LMDB key besides the store's id. */
export const PATH_BYTES_MAX = 1800;
/** First part of paths that a folder store reserves for uploads. */
export const RESERVED_PART = '.gannet-uploads';
/** Part of paths that no request reaches, at any position: the service keeps its own files there. */
export const APART = '.gannet-backups';

const CONTROL = /\p{Cc}/u;
/** An unpaired surrogate cannot be encoded as UTF-8. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Returns what is wrong with the path, as a sentence. Undefined if it is valid. */
export function pathFault(path: string): string | undefined {
  if (path === '' || path.length > 2 * PATH_CHARACTERS_MAX || [...path].length > PATH_CHARACTERS_MAX) {
    return `A path has 1 to ${PATH_CHARACTERS_MAX} characters.`;
  }
  if (LONE_SURROGATE.test(path)) return 'A path is text that can be written as UTF-8.';
  if (Buffer.byteLength(path) > PATH_BYTES_MAX) return `A path has at most ${PATH_BYTES_MAX} bytes in UTF-8.`;
  if (CONTROL.test(path)) return 'A path has no control characters.';
  const parts = path.split('/');
  if (parts.some((part) => part === '' || part === '.' || part === '..')) {
    return "The parts of a path between its slashes are neither empty nor '.' or '..'.";
  }
  if (parts.includes(APART)) return `A path has no part '${APART}'.`;
  return parts[0] === RESERVED_PART ? `A path does not begin with '${RESERVED_PART}'.` : undefined;
}

/** Throws `invalid-parameter`. */
export function assertPath(path: string): void {
  const detail = pathFault(path);
  if (detail === undefined) return;
  throw new ServiceError('invalid-parameter', `path: ${detail}`, { errors: [{ parameter: 'path', detail }] });
}

/** Returns the error `file-not-found` for this path. */
export function fileNotFound(path: string): ServiceError {
  return new ServiceError(FILE_NOT_FOUND, `The media store has no file ${JSON.stringify(path)}.`);
}
