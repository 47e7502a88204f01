/**
 * Fetches and reads files for all lists, with limits on the number of files and on the bytes in memory. Unchanged files
 * are not read again. Main thread only.
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
  RecordingKind,
} from '../extracts/index.js';
import { mediaPlace } from '../fields/index.js';
import type { Models } from '../models/index.js';
import { BUILT_IN_PICTURES, PictureError } from '../pictures/index.js';
import { RecordingError, type RecordingReader, type VideoFrames } from '../recordings/index.js';
import { ServiceError, WeightedTurns, type Validators } from '../platform/index.js';
import { ModelError } from '../vectors/index.js';
import { MEMORY_A_FILE_BYTE, type FetchedFile, type FileSource } from './fetched-file.js';
import type { PictureModels } from './picture-models.js';
import { hashWith, isBesideAsBefore, readBeside, readWith, type Beside } from './recording-files.js';
import { endOf } from './end-of.js';
import type { ResourceMetrics } from './resource-metrics.js';
import type { SharedFiles, SharedFileWanted } from './shared-files.js';
import { NotTranscribedError, TranscriberAwayError, transcriptKey, Transcripts } from './transcripts.js';

export interface ResourceReaderOptions {
  readonly documents: Pick<DocumentReader, 'read'>;
  readonly pictures: Pick<PictureModels, 'of' | 'describe' | 'describeFrames'>;
  readonly recordings: Pick<RecordingReader, 'read'>;
  readonly frames: Pick<VideoFrames, 'read' | 'version'>;
  /** Videos whose frames are read at a time. */
  readonly framesParallel: number;
  readonly models: Pick<Models, 'transcriber'>;
  /** Bytes of sound sent to a model per request. */
  readonly transcriptionBytesMax: number;
  /** Recordings of one list that are transcribed at a time. */
  readonly transcribedMax: number;
  readonly transcriptionRetryMs: readonly number[];
  /** Files that are read in several ways. */
  readonly shared: Pick<SharedFiles, 'fetch' | 'close'>;
  readonly web: FileSource;
  readonly media: FileSource;
  readonly metrics: ResourceMetrics;
  /** Limit for one file, by kind. */
  readonly bytesMax: Readonly<Record<ReadKind, number>>;
  /** Limit for a subtitle file next to a recording. */
  readonly subtitleBytesMax: number;
  /** Limit on the memory for all files in progress; a file that needs more is read alone. */
  readonly heldBytesMax: number;
  /** Files in progress at a time. */
  readonly parallel: number;
  readonly parallelPerList: number;
  readonly checkMs: number;
  readonly retryMs: readonly number[];
}

/** Share of these bytes for slow files: sound that is transcribed, and videos whose frames are read. */
const SLOW_SHARE = 1 / 4;

export class ResourceReader implements FileReader {
  readonly checkMs: number;
  readonly parallelMax: number;
  readonly transcription: NonNullable<FileReader['transcription']>;
  readonly retryMs: readonly number[];
  readonly #files: WeightedTurns;
  readonly #videos: WeightedTurns;
  readonly #bytes: WeightedTurns;
  readonly #slowBytes: WeightedTurns;
  readonly #transcripts: Transcripts;
  #isClosed = false;

  constructor(private readonly options: ResourceReaderOptions) {
    this.checkMs = options.checkMs;
    this.parallelMax = options.parallelPerList;
    this.transcription = {
      versionOf: (account, name) => this.#versionOf(account, name),
      parallelMax: options.transcribedMax,
      retryMs: options.transcriptionRetryMs,
    };
    this.retryMs = options.retryMs;
    this.#files = new WeightedTurns(options.parallel);
    this.#videos = new WeightedTurns(options.framesParallel);
    // Separate, so that other files do not wait until a slow large file is done.
    const slowBytesMax = options.heldBytesMax * SLOW_SHARE;
    this.#slowBytes = new WeightedTurns(slowBytesMax);
    this.#bytes = new WeightedTurns(options.heldBytesMax - slowBytesMax);
    this.#transcripts = new Transcripts({ bytesMax: options.transcriptionBytesMax, metrics: options.metrics });
  }

  /** Closes the reader. Failures from now on are not attributed to files. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.options.shared.close();
  }

  pictureModel(account: string, name: string): PictureModel | undefined {
    return this.options.pictures.of(account, name);
  }

  get framesBy(): string {
    return this.options.frames.version;
  }

  #versionOf(account: string, name: string): string | undefined {
    return this.options.models.transcriber(account, name)?.version;
  }

  async read(request: ReadingRequest, signal: AbortSignal): Promise<ReadingOutcome> {
    if (request.kind === 'frames' && this.framesBy === '') return withoutFrames(request);
    const asksModel = request.transcribing?.asks === true;
    const isSlow = asksModel || request.kind === 'frames';
    const turns = request.kind === 'frames' ? this.#videos : this.#files;
    const done = asksModel ? () => undefined : await turns.take(1, signal);
    const held = isSlow ? this.#slowBytes : this.#bytes;
    let giveBack = (): void => undefined;
    const room = async (bytes: number) => {
      // Called a second time if a shared file had to be fetched after all.
      giveBack();
      giveBack = await held.take(bytes * MEMORY_A_FILE_BYTE, signal);
    };
    try {
      const { metrics } = this.options;
      const beside = await this.#beside(request, signal);
      const { transcribing } = request;
      // While the model is unavailable, its transcript is kept.
      const transcribedBy =
        transcribing && (this.#versionOf(request.account, transcribing.model) ?? request.known?.transcribedBy);
      const isOther = request.known !== undefined && this.#isReadOtherwise(request, { beside, transcribedBy });
      const known = isOther ? undefined : request.known;
      const fetched = await this.#fetched({ ...request, known }, { room, isSlow, transcribedBy }, signal);
      const outcome = await this.#outcome(fetched, { request: { ...request, known }, beside, transcribedBy }, signal);
      // A failure because the service stops says nothing of the file; its list cancels the request.
      if (this.#isClosed && outcome.kind === 'unreachable') await endOf(signal);
      metrics.told(outcome, fetched.kind === 'bytes' ? fetched.bytes.length : 0);
      return outcome;
    } finally {
      giveBack();
      done();
    }
  }

  /** Fetches a file. A recording is fetched once for everything that is read from it. */
  #fetched(
    request: ReadingRequest,
    { room, isSlow, transcribedBy }: Pick<SharedFileWanted, 'room' | 'isSlow'> & Pick<FileInHand, 'transcribedBy'>,
    signal: AbortSignal,
  ): Promise<FetchedFile> {
    const { kind, account, url, transcribing, sinceMs = Infinity } = request;
    const wanted = { ...request, bytesMax: this.options.bytesMax[kind], signal };
    const source = this.#sourceOf(url);
    if (kind === 'document' || kind === 'image') return source({ ...wanted, room });
    return this.options.shared.fetch({
      ...{ account, url, sinceMs, room, isSlow, signal },
      as: transcribing?.asks === true ? 'transcript' : kind,
      fetch: (taken, validators) =>
        source({ ...wanted, room: taken, known: validators === undefined ? request.known : { validators, hash: '' } }),
      awaitedAs: async (hash) => {
        const others = request.awaitedAs?.(hash) ?? [];
        if (transcribing === undefined || transcribing.asks || transcribedBy === undefined) return others;
        const kept = await transcribing.kept(transcriptKey(hash, transcribedBy));
        return kept?.isWhole === true ? others : [...others, 'transcript'];
      },
    });
  }

  #sourceOf(url: string): FileSource {
    return mediaPlace(url) === undefined ? this.options.web : this.options.media;
  }

  /**
   * Reads the subtitles next to a file, and releases them before the file itself is awaited. Undefined for kinds
   * without any.
   */
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

  /** True if the subtitles, the transcribing model, or the way of reading frames have changed. */
  #isReadOtherwise(
    { kind, known }: ReadingRequest,
    { beside, transcribedBy }: Pick<FileInHand, 'beside' | 'transcribedBy'>,
  ): boolean {
    if (kind === 'frames') return known?.framesBy !== this.framesBy;
    if (beside === undefined) return false;
    return !isBesideAsBefore(known?.hash ?? '', beside) || known?.transcribedBy !== transcribedBy;
  }

  async #outcome(
    fetched: FetchedFile,
    inHand: Pick<FileInHand, 'request' | 'beside' | 'transcribedBy'>,
    signal: AbortSignal,
  ): Promise<ReadingOutcome> {
    const { transcribedBy, request } = inHand;
    const written = {
      ...(transcribedBy === undefined ? {} : { transcribedBy }),
      ...(request.kind === 'frames' ? { framesBy: this.framesBy } : {}),
    };
    switch (fetched.kind) {
      case 'bytes': {
        const ofBytes = fetched.hash ?? createHash('sha256').update(fetched.bytes).digest('base64url');
        const hash = hashWith(ofBytes, inHand.beside);
        const file = { validators: fetched.validators, hash, ...written };
        return hash === request.known?.hash
          ? { kind: 'unchanged', file }
          : this.#parsed({ ...inHand, bytes: fetched.bytes, hash: ofBytes, file }, signal);
      }
      case 'same':
        return {
          kind: 'unchanged',
          file: {
            validators: { ...request.known?.validators, ...fetched.validators },
            hash: request.known?.hash ?? '',
            ...written,
          },
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

  async #content({ request, bytes }: FileInHand, signal: AbortSignal): Promise<ReadContent> {
    const { documents, pictures } = this.options;
    const { kind, account, pictureModel: model = BUILT_IN_PICTURES.model } = request;
    if (kind === 'document') return { kind, ...(await documents.read(bytes, signal)) };
    if (kind === 'frames') return pictures.describeFrames(this.options.frames, bytes, { account, model }, signal);
    return pictures.describe(bytes, { account, model }, signal);
  }

  async #recording(
    inHand: FileInHand & { readonly kind: RecordingKind; readonly beside: Beside },
    signal: AbortSignal,
  ): Promise<ReadingOutcome> {
    const { request, kind, bytes, beside, file, hash, transcribedBy } = inHand;
    const { account, transcribing } = request;
    const { models, recordings } = this.options;
    const transcriber = transcribing && models.transcriber(account, transcribing.model);
    const content = await readWith(recordings, { kind, bytes, beside, mayBeSilent: transcriber !== undefined }, signal);
    if (transcribing === undefined || transcriber === undefined || transcribedBy === undefined)
      return { kind: 'read', file: { validators: file.validators, hash: file.hash }, content };
    const key = transcriptKey(hash, transcribedBy);
    if (!transcribing.asks && (await transcribing.kept(key))?.isWhole !== true)
      return { kind: 'read', file, content: { ...content, transcript: { key, isThere: false } } };
    try {
      const said = await this.#transcripts.of(transcriber, { key, bytes, transcribing }, signal);
      const passages = [...content.passages, ...said];
      return { kind: 'read', file, content: { ...content, passages, transcript: { key, isThere: true } } };
    } catch (error) {
      if (!(error instanceof NotTranscribedError)) throw error;
      const fault = { error: 'not-transcribed', detail: error.message } as const;
      return { kind: 'read', file, content: { ...content, transcript: { key, isThere: false } }, fault };
    }
  }

  async #parsed(inHand: FileInHand, signal: AbortSignal): Promise<ReadingOutcome> {
    const { request, file, beside } = inHand;
    const { kind } = request;
    try {
      if (beside !== undefined && (kind === 'video' || kind === 'audio'))
        return await this.#recording({ ...inHand, kind, beside }, signal);
      return { kind: 'read', file, content: await this.#content(inHand, signal) };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DocumentError || error instanceof PictureError || error instanceof RecordingError)
        return { kind: 'unreadable', error: error.fault, detail: `${error.message}.`, file };
      if (error instanceof ModelError) return withoutVector(error, file);
      if (error instanceof TranscriberAwayError)
        return { kind: 'unreachable', error: 'model-unavailable', detail: error.message, afterMs: error.afterMs };
      // No process is available, which says nothing of the file.
      if (!(error instanceof ServiceError)) throw error;
      return { kind: 'unreachable', error: 'timed-out', detail: error.detail, afterMs: undefined };
    }
  }
}

/** Returns the outcome if nothing reads frames: what was read before is kept. */
function withoutFrames({ known }: ReadingRequest): ReadingOutcome {
  if (known !== undefined) return { kind: 'unchanged', file: known };
  const file = { validators: {}, hash: '', framesBy: '' };
  return { kind: 'read', file, content: { kind: 'frames', frames: [], modelVersion: '', truncated: false } };
}

interface FileInHand {
  readonly request: ReadingRequest;
  readonly bytes: Uint8Array;
  /** Set for a recording. */
  readonly beside: Beside | undefined;
  /** Version of the model that transcribes. */
  readonly transcribedBy: string | undefined;
  /** Hash of the bytes alone. */
  readonly hash: string;
  readonly file: KnownFile;
}

/**
 * Returns the outcome if a model gave no vector: permanent if the model refuses the picture, otherwise to be retried.
 */
function withoutVector({ retry, retryAfterMs, message: detail }: ModelError, file: KnownFile): ReadingOutcome {
  const error = 'model-unavailable';
  return retry === 'never'
    ? { kind: 'unreadable', error, detail, file }
    : { kind: 'unreachable', error, detail, afterMs: retryAfterMs };
}

/** Returns what is known of a file whose bytes were not read. */
function knownBy(validators: Validators | undefined): KnownFile | undefined {
  return validators === undefined ? undefined : { validators, hash: '' };
}
