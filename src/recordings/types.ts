/** Types of what is read from a video or an audio file, its faults and limits. */

/** Spoken or written text that begins at a time in the recording. */
export interface Cue {
  /** From the beginning; not negative. */
  readonly seconds: number;
  /** One line, not blank. */
  readonly text: string;
}

export interface RecordingText {
  /** In seconds. Undefined if the file does not state it. */
  readonly duration: number | undefined;
  /**
   * Groups of consecutive cues that are searched together: of the tags, of the chapters, and of each subtitle track.
   */
  readonly passages: readonly (readonly Cue[])[];
  /** True if there is more in it than was read. */
  readonly truncated: boolean;
}

/** Reasons why a recording cannot be read, as named in the API. */
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

/** Limits for reading a recording. */
export interface RecordingLimits {
  /** Further cues are not read. */
  readonly cuesMax: number;
  /** Limit on the characters of all cues. */
  readonly charactersMax: number;
  readonly msMax: number;
}
