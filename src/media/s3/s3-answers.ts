/**
 * What a server that speaks S3 answers, as far as it can be believed: who lists a bucket takes what is missing for gone, and goes on behind
 * the last file that was named; who reads a file keeps what came for its content.
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

/** What was asked for. */
export interface ListingAsked {
  /** In front of every key of the store. */
  readonly own: string;
  readonly prefix: string;
  readonly after: string;
}

/** A page of a listing, by the bytes of the paths. Throws `store-unavailable` for one that is none, or not of what was asked for. */
export function listedPage(answer: Readonly<Record<string, unknown>>, { own, prefix, after }: ListingAsked): FilePage {
  const { Contents = [], IsTruncated, EncodingType } = listingOf(answer);
  const hasMore = IsTruncated === 'true';
  const files: StoredFile[] = [];
  for (const each of Contents) {
    const file = listedFile(each, own, EncodingType);
    if (!file.path.startsWith(prefix)) throw unavailable('it listed files that were not asked for');
    files.push(file);
  }
  // Of a listing that goes on, each page begins behind the one before: with another order files would be missed, or come again without end.
  const isInParts = hasMore || after !== '';
  if (isInParts && files.some(({ path }, place) => !isBehind(path, files[place - 1]?.path ?? after)))
    throw unavailable('it listed files again, or in an order of its own');
  return { files: files.sort((a, b) => inOrder(a.path, b.path)), hasMore };
}

/**
 * Of a HEAD. Throws `store-unavailable` where it does not tell the length, for a file without a byte would look like that, or the ETag, by
 * which a file that has changed is known.
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

/** A server may take so long for the pieces of a file beside what it sends of them: who waits for it meanwhile can do nothing else. */
const PATIENCE_MS = 60_000;
/** As slow as a server may be beyond that; who reads from it may be slower. */
const SLOWEST_BYTES_PER_MS = 8;

/**
 * The same pieces. Throws `store-unavailable` where the server keeps who reads waiting for too long, all in all: with a byte a minute none of its
 * pauses is a long one.
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

/** The body, if it is what was asked for: throws `store-unavailable` before the last piece of one that is something else. */
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

/** Throws where it is something else: who asks would take it for a bucket without files. */
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
