/** A bucket as a media store: the server keeps files, ETags and order. What others put there counts. One thread. */
import { ServiceError } from '../../platform/index.js';
import type { OutboundResponse } from '../../platform/outbound/outbound-client.js';
import { contentTypeOfName } from '../content-types.js';
import { APART, fileNotFound, pathFault } from '../media-path.js';
import type {
  ByteRange,
  FileCheck,
  FileEvents,
  FilePage,
  ListQuery,
  MediaStore,
  OpenFile,
  PutOutcome,
  StoredFile,
  StoreUsage,
  Upload,
} from '../media-store.js';
import { PathLocks } from '../path-locks.js';
import { asUnavailable, unavailable, type S3Client } from './s3-client.js';
import { sendUpload } from './s3-upload.js';
import type { UploadSlots } from './upload-slots.js';

export interface S3StoreOptions {
  readonly client: S3Client;
  /** In front of every key. */
  readonly prefix: string;
  readonly events: FileEvents;
  /** Uploads that hold a part in memory at a time, of all stores. */
  readonly slots: UploadSlots;
}

interface ListedObject {
  readonly Key?: string;
  readonly Size?: string;
  readonly ETag?: string;
  readonly LastModified?: string;
}

interface Listing {
  readonly Contents?: readonly ListedObject[];
  readonly IsTruncated: 'true' | 'false';
}

export class S3Store implements MediaStore {
  private readonly locks = new PathLocks();

  constructor(private readonly options: S3StoreOptions) {}

  async put(upload: Upload): Promise<PutOutcome> {
    const { client, events, slots } = this.options;
    const { path, bytes, check, isConditional } = upload;
    const before = await this.stat(path);
    check(before);
    const send = async () => {
      const conditions = isConditional ? conditionsOf(before) : {};
      await sendUpload(client, { ...upload, conditions });
    };
    await (bytes === undefined ? slots.run(send) : send());
    const file = await this.stat(path);
    if (file === undefined) throw new ServiceError('conflict', 'The file was removed by somebody else meanwhile.');
    events.uploaded(file);
    return { file, isNew: before === undefined };
  }

  async open(path: string): Promise<OpenFile | undefined> {
    const file = await this.stat(path);
    return file === undefined
      ? undefined
      : { file, pieces: (range) => this.pieces(file, range), close: () => Promise.resolve() };
  }

  async stat(path: string): Promise<StoredFile | undefined> {
    const response = await this.options.client.call({ method: 'HEAD', key: path, expected: [404] });
    response.discard();
    return response.status === 404 ? undefined : storedFile(path, response);
  }

  remove(path: string, check: FileCheck): Promise<StoredFile> {
    return this.locks.run(path, async () => {
      const current = await this.stat(path);
      check(current);
      if (current === undefined) throw fileNotFound(path);
      const response = await this.options.client.call({ method: 'DELETE', key: path, expected: [404] });
      response.discard();
      this.options.events.deleted(current);
      return current;
    });
  }

  async list({ prefix, after, size }: ListQuery): Promise<FilePage> {
    const { client, prefix: own } = this.options;
    const files: StoredFile[] = [];
    for (let behind = after; ;) {
      const query = {
        'list-type': '2',
        'encoding-type': 'url',
        'max-keys': String(size - files.length),
        prefix: own + prefix,
        ...(behind === '' ? {} : { 'start-after': own + behind }),
      };
      const answer = await client.xml({ method: 'GET', query });
      const page = listingOf(answer);
      const listed = (page.Contents ?? []).map((each) => listedFile(each, own));
      // Keys that no path can have, as those that end with a slash, are left out.
      files.push(...listed.filter(({ path }) => pathFault(path) === undefined));
      const last = listed.at(-1)?.path;
      const hasMore = page.IsTruncated === 'true';
      if (!hasMore || files.length >= size) return { files, hasMore };
      if (last === undefined) throw unavailable('it answered that there are more files, and named none');
      behind = behindApart(last);
    }
  }

  /** Counting would take a request for each thousand files. */
  usage(): Promise<StoreUsage> {
    return Promise.resolve({ bytesUsed: null, bytesMax: null, fileCount: null });
  }

  /** Of that content, or not at all. */
  private async *pieces({ path, etag, bytes }: StoredFile, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const headers = {
      'if-match': `"${etag}"`,
      ...(range === undefined ? {} : { range: `bytes=${range.begin}-${range.end - 1}` }),
    };
    // There is no range of a file without a byte.
    if (bytes === 0) return;
    const response = await this.options.client.call({ method: 'GET', key: path, headers });
    try {
      yield* response.body();
    } catch (error) {
      throw asUnavailable(error);
    }
  }
}

/** What the service keeps for itself, which may be much, is gone over at once. */
function behindApart(path: string): string {
  const place = path.split('/').indexOf(APART);
  return place === -1 ? path : [...path.split('/').slice(0, place + 1), '\u{10FFFF}'].join('/');
}

/** Throws where it is something else: who asks would take it for a bucket without files. */
function listingOf(answer: Readonly<Record<string, unknown>>): Listing {
  const page = answer['ListBucketResult'] as Partial<Listing> | undefined;
  if (page?.IsTruncated !== 'true' && page?.IsTruncated !== 'false')
    throw unavailable('it answered something that is no listing of files');
  return page as Listing;
}

function conditionsOf(before: StoredFile | undefined): Record<string, string> {
  return before === undefined ? { 'if-none-match': '*' } : { 'if-match': `"${before.etag}"` };
}

function storedFile(path: string, { headers }: OutboundResponse): StoredFile {
  return {
    path,
    bytes: Number(headers['content-length'] ?? 0),
    contentType: headers['content-type'] ?? contentTypeOfName(path),
    etag: bareTag(headers['etag']),
    modifiedUtc: timeOf(headers['last-modified']),
  };
}

function listedFile({ Key = '', Size = '0', ETag, LastModified }: ListedObject, own: string): StoredFile {
  const path = decodeURIComponent(Key.replaceAll('+', ' ')).slice(own.length);
  return {
    path,
    bytes: Number(Size),
    contentType: contentTypeOfName(path),
    etag: bareTag(ETag),
    modifiedUtc: timeOf(LastModified),
  };
}

function bareTag(text = ''): string {
  return text.replace(/^(?:W\/)?"?|"$/g, '');
}

function timeOf(text: string | undefined): string {
  const ms = Date.parse(text ?? '');
  return new Date(Number.isNaN(ms) ? 0 : ms).toISOString();
}
