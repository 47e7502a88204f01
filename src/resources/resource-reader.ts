/**
 * Fetches files and reads them, for all lists: so many at a time, and no more bytes of them in hand than one may have. What is as it was
 * before is not read. Main thread only.
 */
import { createHash } from 'node:crypto';
import { DocumentError, type DocumentReader } from '../documents/index.js';
import type {
  FileReader,
  KnownFile,
  PictureModel,
  ReadContent,
  ReadingOutcome,
  ReadingRequest,
  ReadKind,
} from '../extracts/index.js';
import { BUILT_IN_PICTURES, PictureError } from '../pictures/index.js';
import { RecordingError, type RecordingReader } from '../recordings/index.js';
import { ServiceError, type Validators } from '../platform/index.js';
import { ModelError } from '../vectors/index.js';
import { MEMORY_A_FILE_BYTE, type FetchedFile, type FileSource } from './fetched-file.js';
import { mediaPlace } from './media-files.js';
import type { PictureModels } from './picture-models.js';
import { hashWith, isBesideAsBefore, readBeside, readWith, type Beside } from './recording-files.js';
import type { ResourceMetrics } from './resource-metrics.js';
import { WeightedTurns } from './weighted-turns.js';

export interface ResourceReaderOptions {
  readonly documents: Pick<DocumentReader, 'read'>;
  readonly pictures: Pick<PictureModels, 'of' | 'describe'>;
  readonly recordings: Pick<RecordingReader, 'read'>;
  readonly web: FileSource;
  readonly media: FileSource;
  readonly metrics: ResourceMetrics;
  /** Of one file of the kind. */
  readonly bytesMax: Readonly<Record<ReadKind, number>>;
  /** Of a file of subtitles that lies beside a recording. */
  readonly subtitleBytesMax: number;
  /** What all files that are under way may hold of memory; one that needs more is read alone. */
  readonly heldBytesMax: number;
  /** Files under way. */
  readonly parallel: number;
  readonly parallelPerList: number;
  readonly checkMs: number;
  readonly retryMs: readonly number[];
}

export class ResourceReader implements FileReader {
  readonly checkMs: number;
  readonly parallelMax: number;
  readonly retryMs: readonly number[];
  readonly #files: WeightedTurns;
  readonly #bytes: WeightedTurns;
  #isClosed = false;

  constructor(private readonly options: ResourceReaderOptions) {
    this.checkMs = options.checkMs;
    this.parallelMax = options.parallelPerList;
    this.retryMs = options.retryMs;
    this.#files = new WeightedTurns(options.parallel);
    this.#bytes = new WeightedTurns(options.heldBytesMax);
  }

  /** Nothing that fails from now on is a failure of a file. */
  close(): void {
    this.#isClosed = true;
  }

  pictureModel(account: string, name: string): PictureModel | undefined {
    return this.options.pictures.of(account, name);
  }

  async read(request: ReadingRequest, signal: AbortSignal): Promise<ReadingOutcome> {
    const done = await this.#files.take(1, signal);
    let giveBack = (): void => undefined;
    const room = async (bytes: number) => {
      giveBack = await this.#bytes.take(bytes * MEMORY_A_FILE_BYTE, signal);
    };
    try {
      const { kind } = request;
      const { metrics } = this.options;
      const beside = await this.#beside(request, signal);
      const known =
        request.known && beside && !isBesideAsBefore(request.known.hash, beside) ? undefined : request.known;
      const bytesMax = this.options.bytesMax[kind];
      const fetched = await this.#sourceOf(request.url)({ ...request, known, bytesMax, room, signal });
      const outcome = await this.#outcome(fetched, { ...request, known }, beside, signal);
      // What ended because the service stops says nothing of the file: its list breaks this off.
      if (this.#isClosed && outcome.kind === 'unreachable') await endOf(signal);
      metrics.told(outcome, fetched.kind === 'bytes' ? fetched.bytes.length : 0);
      return outcome;
    } finally {
      giveBack();
      done();
    }
  }

  #sourceOf(url: string): FileSource {
    return mediaPlace(url) === undefined ? this.options.web : this.options.media;
  }

  /** Undefined where nothing lies beside files of the kind. They are let go of before the file itself is waited for. */
  async #beside({ account, kind, url }: ReadingRequest, signal: AbortSignal): Promise<Beside | undefined> {
    if (kind !== 'video' && kind !== 'audio') return undefined;
    const { recordings, subtitleBytesMax: bytesMax } = this.options;
    return readBeside(
      recordings,
      url,
      async (each, read) => {
        let giveBack = (): void => undefined;
        const room = async (bytes: number) => {
          giveBack = await this.#bytes.take(bytes * MEMORY_A_FILE_BYTE, signal);
        };
        try {
          const wanted = { account, url: each, known: undefined, bytesMax, room, signal };
          return await read(await this.#sourceOf(each)(wanted));
        } finally {
          giveBack();
        }
      },
      signal,
    );
  }

  async #outcome(
    fetched: FetchedFile,
    request: ReadingRequest,
    beside: Beside | undefined,
    signal: AbortSignal,
  ): Promise<ReadingOutcome> {
    const { known } = request;
    switch (fetched.kind) {
      case 'bytes': {
        const hash = hashWith(createHash('sha256').update(fetched.bytes).digest('base64url'), beside);
        const file = { validators: fetched.validators, hash };
        return hash === known?.hash
          ? { kind: 'unchanged', file }
          : this.#parsed({ request, bytes: fetched.bytes, beside, file }, signal);
      }
      case 'same':
        return {
          kind: 'unchanged',
          file: { validators: { ...known?.validators, ...fetched.validators }, hash: known?.hash ?? '' },
        };
      case 'unreadable': {
        const { error, detail, validators } = fetched;
        return { kind: 'unreadable', error, detail, file: knownBy(validators) };
      }
      case 'unreachable': {
        const { error, detail, afterMs } = fetched;
        return { kind: 'unreachable', error, detail, afterMs };
      }
    }
  }

  async #content({ request, bytes, beside }: FileInHand, signal: AbortSignal): Promise<ReadContent> {
    const { documents, pictures, recordings } = this.options;
    const { kind, account, pictureModel: model = BUILT_IN_PICTURES.model } = request;
    if (beside !== undefined && kind !== 'document' && kind !== 'image')
      return readWith(recordings, { kind, bytes, beside }, signal);
    if (kind === 'document') return { kind, ...(await documents.read(bytes, signal)) };
    return pictures.describe(bytes, { account, model }, signal);
  }

  async #parsed(inHand: FileInHand, signal: AbortSignal): Promise<ReadingOutcome> {
    const { file } = inHand;
    try {
      return { kind: 'read', file, content: await this.#content(inHand, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DocumentError || error instanceof PictureError || error instanceof RecordingError)
        return { kind: 'unreadable', error: error.fault, detail: `${error.message}.`, file };
      if (error instanceof ModelError) return withoutVector(error, file);
      // There is no process to read it in: that says nothing of the file.
      if (!(error instanceof ServiceError)) throw error;
      return { kind: 'unreachable', error: 'timed-out', detail: error.detail, afterMs: undefined };
    }
  }
}

interface FileInHand {
  readonly request: ReadingRequest;
  readonly bytes: Uint8Array;
  /** Of a recording. */
  readonly beside: Beside | undefined;
  readonly file: KnownFile;
}

/** Of some pictures a model makes nothing, whenever it is asked; otherwise it may another time. */
function withoutVector({ retry, retryAfterMs, message: detail }: ModelError, file: KnownFile): ReadingOutcome {
  const error = 'model-unavailable';
  return retry === 'never'
    ? { kind: 'unreadable', error, detail, file }
    : { kind: 'unreachable', error, detail, afterMs: retryAfterMs };
}

/** Rejects with its reason, when that is there. */
function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => {
      reject(signal.reason as Error);
    };
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** Of bytes that nobody looked at. */
function knownBy(validators: Validators | undefined): KnownFile | undefined {
  return validators === undefined ? undefined : { validators, hash: '' };
}
