/**
 * Sends a file to a bucket: in one request if its length is known or it is small, otherwise in parts that are joined in
 * one step (multipart upload). An upload that breaks off leaves nothing in the bucket. Each part is completed on disk
 * first, since its length has to be sent before its bytes, and the client may take hours.
 */
import { asStorageError, namelessFile, ServiceError } from '../../platform/index.js';
import { piecesOf, writePiece, type ReadableFile } from '../file-pieces.js';
import type { Upload } from '../media-store.js';
import { unavailable, unavailableOf, type S3Client } from './s3-client.js';
import { STORE_UNAVAILABLE } from '../media-problems.js';

/** Bytes per part of a multipart upload. */
export const PART_BYTES = 8 * 2 ** 20;
/** Limit of S3 for a single request. */
const SINGLE_BYTES_MAX = 5 * 2 ** 30;
/** Statuses if the server's file does not meet the conditions. */
const CHANGED = [409, 412];

export type SentUpload = Pick<Upload, 'path' | 'contentType' | 'bytes' | 'body'> & {
  /** `if-match` or `if-none-match`, evaluated by the server. */
  readonly conditions: Readonly<Record<string, string>>;
};

/** `partsFolder` is where parts wait, in files without a name. */
export async function sendUpload(client: S3Client, upload: SentUpload, partsFolder: string): Promise<void> {
  if (upload.bytes !== undefined && upload.bytes <= SINGLE_BYTES_MAX) {
    await sendWhole(client, upload, { bytes: upload.bytes, pieces: () => upload.body, isRepeatable: false });
    return;
  }
  const file = await namelessFile(partsFolder, new Uint8Array());
  try {
    const parts = partsOf(upload.body, file, partsFolder);
    const first = await parts.next();
    const part = first.done === true ? partIn(file, 0) : first.value;
    if (part.bytes < PART_BYTES) await sendWhole(client, upload, part);
    else await sendParts(client, upload, part, parts);
  } finally {
    await file.close();
  }
}

/** Body of one request. */
interface SentPart {
  readonly bytes: number;
  readonly pieces: () => AsyncIterable<Uint8Array>;
  /** True if `pieces` yields the same bytes each time. */
  readonly isRepeatable: boolean;
}

async function sendWhole(
  client: S3Client,
  { path: key, contentType, conditions }: SentUpload,
  { bytes, pieces: body, isRepeatable }: SentPart,
): Promise<void> {
  const headers = { 'content-type': contentType, 'content-length': String(bytes), ...conditions };
  const response = await client.call({ method: 'PUT', key, headers, body, isRepeatable, expected: CHANGED });
  response.discard();
  if (!response.ok) throw changed();
}

async function sendParts(
  client: S3Client,
  { path: key, contentType, conditions }: SentUpload,
  first: SentPart,
  others: AsyncIterator<SentPart>,
): Promise<void> {
  const begun = await client.xml({
    method: 'POST',
    key,
    query: { uploads: '' },
    headers: { 'content-type': contentType },
  });
  const uploadId =
    (begun['InitiateMultipartUploadResult'] as { readonly UploadId?: string } | undefined)?.UploadId ?? '';
  // Without an id, each part would replace the file.
  if (uploadId === '') throw unavailable('it began an upload in parts without naming it');
  try {
    const tags: string[] = [];
    for (let part: SentPart | undefined = first; part !== undefined;) {
      tags.push(await sendPart(client, key, { part, query: { partNumber: String(tags.length + 1), uploadId } }));
      const next: IteratorResult<SentPart> = await others.next();
      part = next.done === true ? undefined : next.value;
    }
    const body = `<CompleteMultipartUpload>${tags.map(partXml).join('')}</CompleteMultipartUpload>`;
    const answer = await client.call({
      method: 'POST',
      key,
      query: { uploadId },
      headers: { 'content-type': 'application/xml', ...conditions },
      body,
      expected: CHANGED,
    });
    if (!answer.ok) {
      answer.discard();
      throw changed();
    }
    // The answer has status 200 even if joining the parts failed; the old file is then still there.
    if ((await client.members(answer))['CompleteMultipartUploadResult'] === undefined)
      throw new ServiceError(STORE_UNAVAILABLE, 'The server of the media store did not complete the upload.');
  } catch (error) {
    // Frees the parts on the server, which otherwise removes them at some time.
    await client.call({ method: 'DELETE', key, query: { uploadId }, expected: [404] }).then(
      (response) => response.discard(),
      () => undefined,
    );
    throw error;
  }
}

/** Returns the part's ETag. */
async function sendPart(
  client: S3Client,
  key: string,
  { part, query }: { readonly part: SentPart; readonly query: Readonly<Record<string, string>> },
): Promise<string> {
  const { bytes, pieces: body, isRepeatable } = part;
  const headers = { 'content-length': String(bytes) };
  const response = await client.call({ method: 'PUT', key, query, headers, body, isRepeatable });
  await unavailableOf(response.bytes());
  const { etag = '' } = response.headers;
  if (etag === '') throw unavailable('it took a part of a file without an ETag for it');
  return etag;
}

function partXml(tag: string, position: number): string {
  return `<Part><PartNumber>${position + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`;
}

function changed(): ServiceError {
  return new ServiceError(
    'precondition-failed',
    'The file is not as the request expects it: it was changed during the request.',
  );
}

/**
 * Yields the body in parts of `PART_BYTES`, the last one shorter. A part is in the file until the next one is
 * requested.
 */
async function* partsOf(
  body: AsyncIterable<Uint8Array>,
  file: WritableAt & ReadableFile,
  folder: string,
): AsyncGenerator<SentPart> {
  let bytes = 0;
  const add = async (piece: Uint8Array) => {
    try {
      const begin = bytes;
      await writePiece({ write: (rest, at) => file.write(rest, at, rest.byteLength - at, begin + at) }, piece);
    } catch (error) {
      throw asStorageError(error, folder);
    }
    bytes += piece.byteLength;
  };
  for await (const piece of body) {
    let rest = piece;
    while (bytes + rest.byteLength >= PART_BYTES) {
      const taken = PART_BYTES - bytes;
      await add(rest.subarray(0, taken));
      yield partIn(file, bytes);
      rest = rest.subarray(taken);
      bytes = 0;
    }
    await add(rest);
  }
  if (bytes > 0) yield partIn(file, bytes);
}

interface WritableAt {
  write(
    piece: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesWritten: number }>;
}

/** Returns the first bytes of the file as a part. */
function partIn(file: ReadableFile, bytes: number): SentPart {
  return { bytes, pieces: () => piecesOf(file, 0, bytes), isRepeatable: true };
}
