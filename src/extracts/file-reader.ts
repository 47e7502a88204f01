/** What reads the files that records link to, as lists see it. It is `src/resources`. */
import type { Validators } from '../platform/index.js';
import type { SpaceCalibration } from '../store/index.js';

/** Kinds of resources whose files are recordings: what is said in them is read, with the second of it. */
export const RECORDING_KINDS = ['video', 'audio'] as const;
export type RecordingKind = (typeof RECORDING_KINDS)[number];
/** Those that are searched by words: by pages, or by passages of what is said. */
export const TEXT_KINDS = ['document', ...RECORDING_KINDS] as const;
export type TextKind = (typeof TEXT_KINDS)[number];
/** Those that are searched by what is to be seen: pictures, and frames of the files of `video` resources, which are read apart from what is said in them. */
export const SEEN_KINDS = ['image', 'frames'] as const;
export type SeenKind = (typeof SEEN_KINDS)[number];
/** As what the files of resources are read. */
export const READ_KINDS = [...TEXT_KINDS, ...SEEN_KINDS] as const;
export type ReadKind = (typeof READ_KINDS)[number];

/** Why nothing could be read of a file, as the API names it. */
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
  /** From 1. */
  readonly page: number;
  readonly text: string;
}

/** What was read of a document. */
export interface ReadText {
  readonly kind: 'document';
  readonly pageCount: number;
  /** The first ones, in order. */
  readonly pages: readonly ReadPage[];
  /** There is more in it than was read. */
  readonly truncated: boolean;
}

/** Something that is said, or stands written, from a second of a recording on. */
export interface Cue {
  readonly seconds: number;
  /** One line. */
  readonly text: string;
}

/** Cues that follow each other and are searched together, as a page is. */
export type Passage = readonly Cue[];

/** What was read of a video or an audio file. */
export interface ReadRecording {
  readonly kind: RecordingKind;
  /** Seconds; undefined where the file does not say. */
  readonly duration: number | undefined;
  readonly passages: readonly Passage[];
  /** There is more in it than was read. */
  readonly truncated: boolean;
  /** Where the list has what is said written down: under what that is kept, and whether it is among the passages. */
  readonly transcript?: { readonly key: string; readonly isThere: boolean };
}

/** What a model wrote down, by pieces of the sound in their order. */
export interface KeptTranscript {
  readonly pieces: readonly (readonly Passage[])[];
  /** There are no more. */
  readonly isWhole: boolean;
}

/** How a list has what is said in its recordings written down. */
export interface Transcribing {
  /** Name of the model. */
  readonly model: string;
  /** It is to be asked now; otherwise what was kept is used. */
  readonly asks: boolean;
  /** What was written down before, of the same bytes by the same model. Rejects where something that was cannot be put on disk. */
  kept(key: string): Promise<KeptTranscript | undefined>;
  /** Resolves when it is on disk: nobody pays for it again. Where it rejects, `kept` tries again. */
  keep(key: string, transcript: KeptTranscript): Promise<void>;
}

/** What was read of a picture. */
export interface ReadPicture {
  readonly kind: 'image';
  /** Pixels. */
  readonly width: number;
  readonly height: number;
  readonly vector: Float32Array;
  /** What made the vector: those of different ones cannot be compared. */
  readonly modelVersion: string;
}

export interface SeenFrame {
  /** From the beginning. */
  readonly seconds: number;
  readonly vector: Float32Array;
}

/** What was read of what is to be seen in a video. */
export interface ReadFrames {
  readonly kind: 'frames';
  /** In their order, without those that are as the one before. */
  readonly frames: readonly SeenFrame[];
  readonly modelVersion: string;
  /** There is more in it than was read. */
  readonly truncated: boolean;
}

/** Whether frames of videos are read: they take a program of the machine. */
export type FrameReading = 'read' | 'no-ffmpeg';

export type ReadContent = ReadText | ReadRecording | ReadPicture | ReadFrames;

/** By what a file is known again: what its server says of it, and a hash of its bytes. */
export interface KnownFile {
  readonly validators: Validators;
  readonly hash: string;
  /** Version of the model that writes down what is said in it; absent: none does. */
  readonly transcribedBy?: string;
  /** By what frames of it were read, of a video. */
  readonly framesBy?: string;
}

export interface ReadingRequest {
  readonly account: string;
  readonly url: string;
  readonly kind: ReadKind;
  /** Of a picture or frames: as the list names what makes vectors of them. */
  readonly pictureModel?: string;
  /** What was read before, unless it is to be read whatever it is. */
  readonly known: KnownFile | undefined;
  /** Of a recording. */
  readonly transcribing?: Transcribing | undefined;
  /** What was fetched before then may be another file. Default: all of it. */
  readonly sinceMs?: number;
  /** Of a recording: what else than `kind` bytes of this hash will be read as. Default: nothing. */
  readonly awaitedAs?: (hash: string) => readonly ReadKind[];
}

export type ReadingOutcome =
  /** `fault`: some of it could not be read, and will not be. */
  | {
      readonly kind: 'read';
      readonly file: KnownFile;
      readonly content: ReadContent;
      readonly fault?: { readonly error: FileFault; readonly detail: string };
    }
  /** It is what it was. */
  | { readonly kind: 'unchanged'; readonly file: KnownFile }
  /** It is another one, and nothing can be read of it; `file`: undefined where it is not there. */
  | {
      readonly kind: 'unreadable';
      readonly error: FileFault;
      readonly detail: string;
      readonly file: KnownFile | undefined;
    }
  /** Nobody knows what it is now; `afterMs`: no sooner than that is it to be asked for again. */
  | {
      readonly kind: 'unreachable';
      readonly error: FileFault;
      readonly detail: string;
      readonly afterMs: number | undefined;
    };

/** What is read of a recording, each by itself. */
const RECORDING_READINGS: readonly ReadKind[] = [...RECORDING_KINDS, 'frames'];

/** As what else than this the bytes of that hash, which are those behind its URL now, will be read. `rowOf`: what is known of it as another kind. */
export function othersOf(
  kind: ReadKind,
  hash: string,
  rowOf: (kind: ReadKind) => { readonly state: string; readonly file?: KnownFile } | undefined,
): ReadKind[] {
  if (!RECORDING_READINGS.includes(kind)) return [];
  return RECORDING_READINGS.filter((other) => {
    const row = other === kind ? undefined : rowOf(other);
    // Of a recording, the hash begins with that of its own bytes.
    return row !== undefined && (row.state === 'pending' || row.file?.hash.startsWith(hash) !== true);
  });
}

/** What makes vectors of pictures. */
export interface PictureModel {
  /** As lists name it. */
  readonly model: string;
  readonly modelVersion: string;
  readonly dimensions: number;
  /** What cosines mean, whatever a list's pictures are. */
  readonly calibration: SpaceCalibration;
}

export interface FileReader {
  /** That of a name; undefined where there is none, or it cannot be known now what it is. */
  pictureModel(account: string, name: string): PictureModel | undefined;
  /** By what frames of videos are read; '' where nothing reads them. */
  readonly framesBy: string;
  /** After so long a file is looked at again. */
  readonly checkMs: number;
  /** Absent where nothing that is said is written down. */
  readonly transcription?: {
    /** That of the account's model of the name; undefined where there is none. */
    versionOf(account: string, name: string): string | undefined;
    /** Recordings of one list at a time. */
    readonly parallelMax: number;
    /** Waits before a model that was away is asked again, in ms; after the last it is with the next look at the file. */
    readonly retryMs: readonly number[];
  };
  /** Of one list at a time. */
  readonly parallelMax: number;
  /** Waits before a file that could not be reached is tried again, in ms; after the last it is given up until the next check. */
  readonly retryMs: readonly number[];
  /** Rejects with the signal's reason alone. */
  read(request: ReadingRequest, signal: AbortSignal): Promise<ReadingOutcome>;
}
