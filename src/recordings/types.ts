/** What is read of a video or an audio file, and what keeps it from being read. */

/** Something that is said, or stands written, from a second of the recording on. */
export interface Cue {
  /** From the beginning; not negative. */
  readonly seconds: number;
  /** Not blank; one line. */
  readonly text: string;
}

export interface RecordingText {
  /** Seconds; undefined where the file does not say. */
  readonly duration: number | undefined;
  /** Cues that follow each other, as they are searched together: of the tags, of the chapters, of each track of subtitles. */
  readonly passages: readonly (readonly Cue[])[];
  /** There is more in it than was read. */
  readonly truncated: boolean;
}

/** Why nothing is read of a recording, as the API names it. */
export const RECORDING_FAULTS = ['not-a-recording', 'damaged', 'no-text', 'too-large', 'timed-out'] as const;
export type RecordingFault = (typeof RECORDING_FAULTS)[number];

export class RecordingError extends Error {
  override readonly name = 'RecordingError';

  constructor(
    readonly fault: RecordingFault,
    message: string,
  ) {
    super(message);
  }
}

/** Within which a recording is read. */
export interface RecordingLimits {
  /** The rest is not read. */
  readonly cuesMax: number;
  /** Of all cues. */
  readonly charactersMax: number;
  readonly msMax: number;
}
