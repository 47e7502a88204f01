/**
 * Validates answers of servers that speak S3, since callers depend on them: a file missing from a listing is taken for
 * deleted, listings continue after the last file named, and the bytes read are taken for the file's content.
 */
import type { OutboundResponse } from '../../platform/outbound/outbound-client.js';
import { contentTypeOfName } from '../content-types.js';
import type { ByteRange, FilePage, StoredFile } from '../media-store.js';
import { asUnavailable, unavailable } from './s3-client.js';

interface ListedObject {
  readonly Key?: string;
  readonly Size?: string;
  readonly ETag?: string;
  readonly LastModified?: string;
}

interface Listing {
  readonly Contents?: readonly ListedObject[];
  readonly IsTruncated: 'true' | 'false';
  readonly EncodingType?: string;
}

/** Parameters of a requested listing. */
export interface ListingAsked {
  /** Prefix of every key of the store. */
  readonly own: string;
  readonly prefix: string;
  readonly after: string;
}

/**
 * Returns a page of a listing in the order of the paths' bytes. Throws `store-unavailable` if the answer is no listing,
 * or not the requested one.
 */
export function listedPage(answer: Readonly<Record<string, unknown>>, { own, prefix, after }: ListingAsked): FilePage {
  const { Contents = [], IsTruncated, EncodingType } = listingOf(answer);
  const hasMore = IsTruncated === 'true';
  const files: StoredFile[] = [];
  for (const each of Contents) {
    const file = listedFile(each, own, EncodingType);
    if (!file.path.startsWith(prefix)) throw unavailable('it listed files that were not asked for');
    files.push(file);
  }
  // In a listing of several pages, each page has to begin after the last one: otherwise files would be missed, or
  // repeated without end.
  const isInParts = hasMore || after !== '';
  if (isInParts && files.some(({ path }, place) => !isBehind(path, files[place - 1]?.path ?? after)))
    throw unavailable('it listed files again, or in an order of its own');
  return { files: files.sort((a, b) => inOrder(a.path, b.path)), hasMore };
}

/**
 * Returns the file of a HEAD response. Throws `store-unavailable` if it lacks the length, without which the file would
 * seem empty, or the ETag, by which changes are recognised.
 */
export function storedFile(path: string, { headers }: OutboundResponse): StoredFile {
  if (bareTag(headers['etag']) === '') throw unavailable('it did not tell the ETag of a file');
  return {
    path,
    bytes: lengthOf(headers['content-length']),
    contentType: headers['content-type'] ?? contentTypeOfName(path),
    etag: bareTag(headers['etag']),
    modifiedUtc: timeOf(headers['last-modified']),
  };
}

/**
 * Total time that a server may keep readers waiting, besides the time for its bytes: somebody may be blocked meanwhile.
 */
const PATIENCE_MS = 60_000;
/** Slowest allowed server beyond that. The reader itself may be slower. */
const SLOWEST_BYTES_PER_MS = 8;

/**
 * Yields the same pieces. Throws `store-unavailable` if the server keeps the reader waiting too long in total: with a
 * byte per minute, no single pause would be long.
 */
export async function* steadyPieces(
  pieces: AsyncIterable<Uint8Array>,
  nowMs: () => number = () => performance.now(),
): AsyncGenerator<Uint8Array> {
  let mayWaitMs = PATIENCE_MS;
  let askedMs = nowMs();
  for await (const piece of pieces) {
    mayWaitMs += piece.byteLength / SLOWEST_BYTES_PER_MS - (nowMs() - askedMs);
    if (mayWaitMs < 0) throw unavailable('it sends a file too slowly');
    yield piece;
    askedMs = nowMs();
  }
}

/** Yields the body. Throws `store-unavailable` before the last piece if it is not the requested file or range. */
export async function* wantedPieces(
  response: OutboundResponse,
  { etag, bytes, range }: Pick<StoredFile, 'etag' | 'bytes'> & { readonly range: ByteRange | undefined },
): AsyncGenerator<Uint8Array> {
  const { begin, end } = range ?? { begin: 0, end: bytes };
  const fault = faultOf(response, etag, range);
  if (fault !== undefined) {
    response.discard();
    throw unavailable(fault);
  }
  let left = end - begin;
  let last: Uint8Array | undefined;
  try {
    for await (const piece of steadyPieces(response.body())) {
      if (last !== undefined) yield last;
      last = piece;
      left -= piece.byteLength;
      if (left < 0) break;
    }
  } catch (error) {
    throw asUnavailable(error);
  }
  if (left !== 0) throw unavailable(`it sent ${left < 0 ? 'more' : 'less'} of a file than it has by its own word`);
  if (last !== undefined) yield last;
}

function faultOf({ status, headers }: OutboundResponse, etag: string, range?: ByteRange): string | undefined {
  const { etag: sent } = headers;
  if (sent !== undefined && bareTag(sent) !== etag) return 'it sent another file than the one that was asked for';
  if (range === undefined) return status === 200 ? undefined : 'it sent a part of a file for the whole of it';
  const isPart = status === 206 && (headers['content-range'] ?? '').startsWith(`bytes ${range.begin}-`);
  return isPart ? undefined : 'it did not send the part of a file that was asked for';
}

/** Throws if the answer is no listing, which would otherwise look like an empty bucket. */
function listingOf(answer: Readonly<Record<string, unknown>>): Listing {
  const page = answer['ListBucketResult'] as Partial<Listing> | undefined;
  if (page?.IsTruncated !== 'true' && page?.IsTruncated !== 'false')
    throw unavailable('it answered something that is no listing of files');
  return page as Listing;
}

function listedFile({ Key = '', Size, ETag, LastModified }: ListedObject, own: string, encoding?: string): StoredFile {
  const key = encoding === 'url' ? decoded(Key) : Key;
  if (!key.startsWith(own)) throw unavailable('it listed files that were not asked for');
  const path = key.slice(own.length);
  return {
    path,
    bytes: lengthOf(Size),
    contentType: contentTypeOfName(path),
    etag: bareTag(ETag),
    modifiedUtc: timeOf(LastModified),
  };
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch (error) {
    throw unavailable('it listed a name that is not encoded as it says', error);
  }
}

function lengthOf(text: string | undefined): number {
  if (text !== undefined && /^\d{1,15}$/.test(text)) return Number(text);
  throw unavailable('it did not say how long a file is');
}

function inOrder(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

function isBehind(path: string, after: string): boolean {
  return after === '' || inOrder(path, after) > 0;
}

function bareTag(text = ''): string {
  return text.replace(/^(?:W\/)?"?|"$/g, '');
}

function timeOf(text: string | undefined): string {
  const ms = Date.parse(text ?? '');
  return new Date(Number.isNaN(ms) ? 0 : ms).toISOString();
}
