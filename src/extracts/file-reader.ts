/** Interface of the reader of linked files, as lists see it. `src/resources` implements it. */
import type { Validators } from '../platform/index.js';
import type { SpaceCalibration } from '../store/index.js';

/** Kinds of resources whose files are recordings: what is said in them is read, with its time in seconds. */
export const RECORDING_KINDS = ['video', 'audio'] as const;
export type RecordingKind = (typeof RECORDING_KINDS)[number];
/** Kinds that are searched by words: by pages, or by passages of what is said. */
export const TEXT_KINDS = ['document', ...RECORDING_KINDS] as const;
export type TextKind = (typeof TEXT_KINDS)[number];
/**
 * Kinds that are searched by what can be seen: pictures, and the frames of `video` resources, which are read separately
 * from what is said in them.
 */
export const SEEN_KINDS = ['image', 'frames'] as const;
export type SeenKind = (typeof SEEN_KINDS)[number];
/** Kinds as which the files of resources are read. */
export const READ_KINDS = [...TEXT_KINDS, ...SEEN_KINDS] as const;
export type ReadKind = (typeof READ_KINDS)[number];

/** Reasons why a file could not be read, as the API names them. */
export const FILE_FAULTS = [
  'not-found',
  'not-a-pdf',
  'not-a-picture',
  'not-a-recording',
  'not-transcribed',
  'encrypted',
  'damaged',
  'no-text',
  'too-large',
  'refused-address',
  'timed-out',
  'model-unavailable',
] as const;
export type FileFault = (typeof FILE_FAULTS)[number];

export interface ReadPage {
  /** Page number, from 1. */
  readonly page: number;
  readonly text: string;
}

/** Contents of a document. */
export interface ReadText {
  readonly kind: 'document';
  readonly pageCount: number;
  /** The first pages, in order. */
  readonly pages: readonly ReadPage[];
  /** True if the document has more than was read. */
  readonly truncated: boolean;
}

/** Something said or shown as text, from a second of a recording on. */
export interface Cue {
  readonly seconds: number;
  /** A single line. */
  readonly text: string;
}

/** Consecutive cues that are searched together, like a page. */
export type Passage = readonly Cue[];

/** Contents of a video or audio file. */
export interface ReadRecording {
  readonly kind: RecordingKind;
  /** Seconds; undefined if the file does not say. */
  readonly duration: number | undefined;
  readonly passages: readonly Passage[];
  /** True if the recording has more than was read. */
  readonly truncated: boolean;
  /** Set if the list has its recordings transcribed: key of the transcript, and whether it is among the passages. */
  readonly transcript?: { readonly key: string; readonly isThere: boolean };
}

/** A transcript, in pieces of the sound in order. */
export interface KeptTranscript {
  readonly pieces: readonly (readonly Passage[])[];
  /** True if there are no more pieces. */
  readonly isWhole: boolean;
}

/** How a list has its recordings transcribed. */
export interface Transcribing {
  /** Name of the model. */
  readonly model: string;
  /** True if the model is to be asked now; otherwise only a stored transcript is used. */
  readonly asks: boolean;
  /**
   * Returns the transcript that was made before of the same bytes by the same model. Rejects if an earlier one cannot
   * be written to disk.
   */
  kept(key: string): Promise<KeptTranscript | undefined>;
  /**
   * Stores a transcript. Resolves when it is on disk, so that nobody pays for it again. If it rejects, `kept` tries
   * again.
   */
  keep(key: string, transcript: KeptTranscript): Promise<void>;
}

/** Contents of a picture. */
export interface ReadPicture {
  readonly kind: 'image';
  /** In pixels. */
  readonly width: number;
  readonly height: number;
  readonly vector: Float32Array;
  /** Version of the model that made the vector; vectors of different versions cannot be compared. */
  readonly modelVersion: string;
}

export interface SeenFrame {
  /** Seconds from the beginning. */
  readonly seconds: number;
  readonly vector: Float32Array;
}

/** Frames of a video. */
export interface ReadFrames {
  readonly kind: 'frames';
  /** In order, without frames that look like the previous one. */
  readonly frames: readonly SeenFrame[];
  readonly modelVersion: string;
  /** True if the video has more than was read. */
  readonly truncated: boolean;
}

/** Whether frames of videos are read, which needs a program on the machine. */
export type FrameReading = 'read' | 'no-ffmpeg';

export type ReadContent = ReadText | ReadRecording | ReadPicture | ReadFrames;

/** What identifies the state of a file: what its server says about it, and a hash of its bytes. */
export interface KnownFile {
  readonly validators: Validators;
  readonly hash: string;
  /** Version of the model that transcribes it; absent if none does. */
  readonly transcribedBy?: string;
  /** Version of what read the frames of a video. */
  readonly framesBy?: string;
}

export interface ReadingRequest {
  readonly account: string;
  readonly url: string;
  readonly kind: ReadKind;
  /** For pictures and frames: name of the embedding model in the list's settings. */
  readonly pictureModel?: string;
  /** State of the file at the last reading; undefined to read it in any case. */
  readonly known: KnownFile | undefined;
  /** For recordings. */
  readonly transcribing?: Transcribing | undefined;
  /** Bytes that were fetched before this time may be outdated. Default: all are. */
  readonly sinceMs?: number;
  /** For recordings: returns the other kinds as which the bytes with this hash will be read. Default: none. */
  readonly awaitedAs?: (hash: string) => readonly ReadKind[];
}

export type ReadingOutcome =
  /** `fault`: part of the file could not be read, and a retry will not help. */
  | {
      readonly kind: 'read';
      readonly file: KnownFile;
      readonly content: ReadContent;
      readonly fault?: { readonly error: FileFault; readonly detail: string };
    }
  /** The file has not changed. */
  | { readonly kind: 'unchanged'; readonly file: KnownFile }
  /** The file has changed, and nothing can be read from it. `file` is undefined if it does not exist. */
  | {
      readonly kind: 'unreadable';
      readonly error: FileFault;
      readonly detail: string;
      readonly file: KnownFile | undefined;
    }
  /** The file could not be reached, so its state is unknown. `afterMs`: minimum time until the next request. */
  | {
      readonly kind: 'unreachable';
      readonly error: FileFault;
      readonly detail: string;
      readonly afterMs: number | undefined;
    };

/** Kinds as which a recording is read, each separately. */
const RECORDING_READINGS: readonly ReadKind[] = [...RECORDING_KINDS, 'frames'];

/**
 * Returns the other kinds as which the bytes with this hash, which the URL has now, are still to be read. `rowOf`: what
 * is known of the file as another kind.
 */
export function othersOf(
  kind: ReadKind,
  hash: string,
  rowOf: (kind: ReadKind) => { readonly state: string; readonly file?: KnownFile } | undefined,
): ReadKind[] {
  if (!RECORDING_READINGS.includes(kind)) return [];
  return RECORDING_READINGS.filter((other) => {
    const row = other === kind ? undefined : rowOf(other);
    // The hash of a recording begins with the hash of its own bytes.
    return row !== undefined && (row.state === 'pending' || row.file?.hash.startsWith(hash) !== true);
  });
}

/** A model that embeds pictures. */
export interface PictureModel {
  /** Name of the model in lists' settings. */
  readonly model: string;
  readonly modelVersion: string;
  readonly dimensions: number;
  /** Calibration of cosines, independent of a list's pictures. */
  readonly calibration: SpaceCalibration;
}

export interface FileReader {
  /** Returns the model of this name; undefined if there is none, or it is not known now. */
  pictureModel(account: string, name: string): PictureModel | undefined;
  /** Version of what reads the frames of videos; '' if nothing does. */
  readonly framesBy: string;
  /** Time after which a file is looked at again. */
  readonly checkMs: number;
  /** Absent if nothing is transcribed. */
  readonly transcription?: {
    /** Returns the version of the account's model of this name; undefined if there is none. */
    versionOf(account: string, name: string): string | undefined;
    /** Maximum number of recordings of one list at a time. */
    readonly parallelMax: number;
    /** Delays before an unavailable model is asked again, in ms; after the last, at the next look at the file. */
    readonly retryMs: readonly number[];
  };
  /** Maximum number of files of one list at a time. */
  readonly parallelMax: number;
  /** Delays before an unreachable file is tried again, in ms; after the last, at the next check. */
  readonly retryMs: readonly number[];
  /** Rejects only with the signal's reason. */
  read(request: ReadingRequest, signal: AbortSignal): Promise<ReadingOutcome>;
}
