/**
 * A bucket as a media store: the server keeps files, ETags and order. Files that others put there count. One thread.
 */
import { ServiceError } from '../../platform/index.js';
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
import { listedPage, storedFile, wantedPieces } from './s3-answers.js';
import { errorCodeOf, unavailable, type S3Client } from './s3-client.js';
import { sendUpload } from './s3-upload.js';
import { UploadSlots } from './upload-slots.js';

/** Uploads of unknown length at a time. */
const UNANNOUNCED_UPLOADS_MAX = 32;
/** The most that servers return per page. */
const KEYS_MAX = 1000;
/** Pages read for one listing, which is a million names: others, which are skipped, may be endless. */
const PAGES_MAX = 1000;

export interface S3StoreOptions {
  readonly client: S3Client;
  /** Prefix of every key. */
  readonly prefix: string;
  readonly events: FileEvents;
  /** Where parts of uploads wait until they are complete. */
  readonly partsFolder: string;
}

export class S3Store implements MediaStore {
  private readonly locks = new PathLocks();
  /** Limits the parts on disk. Per store: its server may be silent, and uploads to it slow, for any time. */
  private readonly slots = new UploadSlots(UNANNOUNCED_UPLOADS_MAX);

  constructor(private readonly options: S3StoreOptions) {}

  async put(upload: Upload): Promise<PutOutcome> {
    const { client, events, partsFolder } = this.options;
    const { path, bytes, check, isConditional } = upload;
    const before = await this.head(path);
    check(before);
    const send = async () => {
      const conditions = isConditional ? conditionsOf(before) : {};
      await sendUpload(client, { ...upload, conditions }, partsFolder);
    };
    await (bytes === undefined ? this.slots.run(send) : send());
    const file = await this.stat(path);
    if (file === undefined) throw new ServiceError('conflict', 'The file was deleted during the request.');
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
    const file = await this.head(path);
    if (file === undefined) await this.assertBucket(path);
    return file;
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

  async list({ prefix, after, size, signal }: ListQuery): Promise<FilePage> {
    const { client, prefix: own } = this.options;
    const files: StoredFile[] = [];
    for (let behind = after, pages = 0; ; pages += 1) {
      if (pages >= PAGES_MAX) throw unavailable('it lists too many names in a row that no file can have');
      // After the first page, many names may be skipped ones; small pages would then take a request per file.
      const answers = pages === 0 ? size : KEYS_MAX;
      const query = {
        'list-type': '2',
        'encoding-type': 'url',
        'max-keys': String(answers),
        prefix: own + prefix,
        ...(behind === '' ? {} : { 'start-after': own + behind }),
      };
      const answer = await client.xml({ method: 'GET', query, signal, answers });
      const page = listedPage(answer, { own, prefix, after: behind });
      // Skips keys that are invalid as paths, such as those that end with a slash.
      files.push(...page.files.filter(({ path }) => pathFault(path) === undefined));
      const last = page.files.at(-1)?.path;
      const hasMore = page.hasMore || files.length > size;
      if (!hasMore || files.length >= size) return { files: files.slice(0, size), hasMore };
      if (last === undefined) throw unavailable('it answered that there are more files, and named none');
      behind = behindApart(last);
    }
  }

  /** Not counted, since that would take a request per thousand files. */
  usage(): Promise<StoreUsage> {
    return Promise.resolve({ bytesUsed: null, bytesMax: null, fileCount: null });
  }

  private async head(path: string): Promise<StoredFile | undefined> {
    const response = await this.options.client.call({ method: 'HEAD', key: path, expected: [404] });
    response.discard();
    return response.status === 404 ? undefined : storedFile(path, response);
  }

  /**
   * Checks that the bucket exists. A HEAD response has no body to say so, and a missing bucket must not be taken for a
   * missing file. Throws `store-unavailable`.
   */
  private async assertBucket(path: string): Promise<void> {
    const headers = { range: 'bytes=0-0' };
    const response = await this.options.client.call({ method: 'GET', key: path, headers, expected: [404, 416] });
    const code = response.status === 404 ? await errorCodeOf(response) : '';
    response.discard();
    if (code === 'NoSuchBucket') throw unavailable('it has no such bucket');
  }

  /** Yields bytes of exactly this content, or throws. */
  private async *pieces({ path, etag, bytes }: StoredFile, range?: ByteRange): AsyncGenerator<Uint8Array> {
    const headers = {
      'if-match': `"${etag}"`,
      ...(range === undefined ? {} : { range: `bytes=${range.begin}-${range.end - 1}` }),
    };
    // An empty file has no ranges.
    if (bytes === 0) return;
    const response = await this.options.client.call({ method: 'GET', key: path, headers, answers: 'file' });
    yield* wantedPieces(response, { etag, bytes, range });
  }
}

/** Skips the service's own files, which may be many. */
function behindApart(path: string): string {
  const place = path.split('/').indexOf(APART);
  return place === -1 ? path : [...path.split('/').slice(0, place + 1), '\u{10FFFF}'].join('/');
}

function conditionsOf(before: StoredFile | undefined): Record<string, string> {
  return before === undefined ? { 'if-none-match': '*' } : { 'if-match': `"${before.etag}"` };
}
