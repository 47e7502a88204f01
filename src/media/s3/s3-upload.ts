/**
 * The ways of a file into a bucket: one request where its length is known, or small; otherwise in parts, which become the file in one
 * step. An upload that breaks off leaves nothing in the bucket.
 */
import { ServiceError } from '../../platform/index.js';
import type { Upload } from '../media-store.js';
import { unavailable, unavailableOf, type S3Client } from './s3-client.js';
import { STORE_UNAVAILABLE } from '../media-problems.js';

/** Of one part of an upload in parts. */
export const PART_BYTES = 8 * 2 ** 20;
/** A single request takes no more. */
const SINGLE_BYTES_MAX = 5 * 2 ** 30;
/** The server compared what is there with what was asked for, and it was something else. */
const CHANGED = [409, 412];

export type SentUpload = Pick<Upload, 'path' | 'contentType' | 'bytes' | 'body'> & {
  /** `if-match` or `if-none-match`: the server is to see to it. */
  readonly conditions: Readonly<Record<string, string>>;
};

export async function sendUpload(client: S3Client, upload: SentUpload): Promise<void> {
  if (upload.bytes !== undefined && upload.bytes <= SINGLE_BYTES_MAX) {
    await sendWhole(client, upload, upload.bytes, () => upload.body);
    return;
  }
  const parts = partsOf(upload.body);
  const first = await parts.next();
  const piece = first.done === true ? Buffer.alloc(0) : first.value;
  if (piece.byteLength < PART_BYTES) {
    await sendWhole(client, upload, piece.byteLength, piece);
    return;
  }
  await sendParts(client, upload, piece, parts);
}

async function sendWhole(
  client: S3Client,
  { path: key, contentType, conditions }: SentUpload,
  bytes: number,
  body: Uint8Array | (() => AsyncIterable<Uint8Array>),
): Promise<void> {
  const headers = { 'content-type': contentType, 'content-length': String(bytes), ...conditions };
  const response = await client.call({ method: 'PUT', key, headers, body, expected: CHANGED });
  response.discard();
  if (!response.ok) throw changed();
}

async function sendParts(
  client: S3Client,
  { path: key, contentType, conditions }: SentUpload,
  first: Buffer,
  others: AsyncIterator<Buffer>,
): Promise<void> {
  const begun = await client.xml({
    method: 'POST',
    key,
    query: { uploads: '' },
    headers: { 'content-type': contentType },
  });
  const uploadId =
    (begun['InitiateMultipartUploadResult'] as { readonly UploadId?: string } | undefined)?.UploadId ?? '';
  // Without one, each part would take the place of the file.
  if (uploadId === '') throw unavailable('it began an upload in parts without naming it');
  try {
    const tags: string[] = [];
    for (let part: Buffer | undefined = first; part !== undefined;) {
      const query = { partNumber: String(tags.length + 1), uploadId };
      const response = await client.call({ method: 'PUT', key, query, body: part });
      await unavailableOf(response.bytes());
      tags.push(response.headers['etag'] ?? '');
      const next: IteratorResult<Buffer> = await others.next();
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
    const text = await unavailableOf(answer.text());
    if (!answer.ok) throw changed();
    // Where putting the parts together failed, the answer is a 200 all the same.
    if (text.includes('<Error>'))
      throw new ServiceError(STORE_UNAVAILABLE, 'The server of the media store did not put the file together.');
  } catch (error) {
    // What is left of it costs room there; the server removes it some time if this fails too.
    await client.call({ method: 'DELETE', key, query: { uploadId }, expected: [404] }).then(
      (response) => response.discard(),
      () => undefined,
    );
    throw error;
  }
}

function partXml(tag: string, position: number): string {
  return `<Part><PartNumber>${position + 1}</PartNumber><ETag>${tag.replaceAll('"', '&quot;')}</ETag></Part>`;
}

function changed(): ServiceError {
  return new ServiceError(
    'precondition-failed',
    'The file is not as the request expects it: it was changed meanwhile.',
  );
}

/** The body in parts of `PART_BYTES`, the last one shorter. */
async function* partsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body) {
    let rest = piece;
    while (bytes + rest.byteLength >= PART_BYTES) {
      const taken = PART_BYTES - bytes;
      yield Buffer.concat([...pieces, rest.subarray(0, taken)]);
      rest = rest.subarray(taken);
      pieces = [];
      bytes = 0;
    }
    pieces.push(rest);
    bytes += rest.byteLength;
  }
  if (bytes > 0) yield Buffer.concat(pieces);
}
