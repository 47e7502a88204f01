/**
 * Reads the words of one recording within limits: its tags, chapters and embedded subtitles; or those of a subtitle
 * file next to a recording. If it takes too long, the caller kills the process.
 */
import { matroskaText } from './containers/matroska-text.js';
import { mp4Text, type TextTracks } from './containers/mp4-text.js';
import { passagesOf } from './passages.js';
import { MIME_TYPES, recordingFormat, type RecordingFormat } from './recording-format.js';
import { decodeText } from './subtitles/plain-text.js';
import { isSubtitles, readSubtitles } from './subtitles/subtitle-file.js';
import { readTags, type Tags } from './tags.js';
import { RecordingError, type Cue, type RecordingLimits, type RecordingText } from './types.js';

/** Cues after this time are taken for damage. */
const SECONDS_MAX = 10_000_000;
const NO_TRACKS: TextTracks = { chapters: [], subtitles: [], truncated: false };
const NO_TAGS: Tags = { duration: undefined, tags: [], chapters: [], lyrics: [] };

/** Rejects with a RecordingError if there are no words. */
export async function readRecording(bytes: Uint8Array, limits: RecordingLimits): Promise<RecordingText> {
  const format = recordingFormat(bytes);
  if (format !== undefined) return ofRecording(format, bytes, limits);
  const text = decodeText(bytes);
  if (!isSubtitles(text))
    throw new RecordingError('not-a-recording', 'The bytes are not those of a video or an audio file that is read');
  const { cues, truncated } = readSubtitles(text, limits.cuesMax);
  return wordsOf({ duration: undefined, said: [cues], truncated, fault: undefined }, limits);
}

async function ofRecording(
  format: RecordingFormat,
  bytes: Uint8Array,
  limits: RecordingLimits,
): Promise<RecordingText> {
  const tracks = textTracks(format, bytes, limits.cuesMax);
  let [tags, fault] = [NO_TAGS, undefined as string | undefined];
  try {
    tags = await readTags(bytes, MIME_TYPES[format]);
  } catch (error) {
    // The subtitles may be intact nevertheless.
    fault = error instanceof Error ? error.message : String(error);
  }
  const chapters = tracks.chapters.length > 0 ? tracks.chapters : tags.chapters;
  const said = [tags.tags, chapters, tags.lyrics, ...tracks.subtitles];
  return wordsOf({ duration: tags.duration, said, truncated: tracks.truncated, fault }, limits);
}

interface Said {
  readonly duration: number | undefined;
  readonly said: readonly (readonly Cue[])[];
  readonly truncated: boolean;
  /** What could not be read, and why. */
  readonly fault: string | undefined;
}

function wordsOf({ duration, said, truncated, fault }: Said, limits: RecordingLimits): RecordingText {
  const { kept, isCut } = within(said, limits);
  const passages = kept.flatMap(passagesOf);
  if (passages.length > 0) return { duration, passages, truncated: truncated || isCut };
  if (fault !== undefined) throw new RecordingError('damaged', `The file cannot be read: ${fault.slice(0, 200)}`);
  throw new RecordingError('no-text', 'The file has no tags, chapters or subtitles');
}

function textTracks(format: RecordingFormat, bytes: Uint8Array, cuesMax: number): TextTracks {
  if (format === 'mp4') return mp4Text(bytes, cuesMax);
  return format === 'matroska' ? matroskaText(bytes, cuesMax) : NO_TRACKS;
}

/** Returns the cues that fit into the limits, in order. */
function within(said: readonly (readonly Cue[])[], { cuesMax, charactersMax }: RecordingLimits) {
  let [cuesLeft, charactersLeft, isCut] = [cuesMax, charactersMax, false];
  const kept = said.map((cues) =>
    cues.filter(({ seconds, text }) => {
      if (seconds > SECONDS_MAX) return false;
      if (cuesLeft <= 0 || text.length > charactersLeft) isCut = true;
      else {
        cuesLeft -= 1;
        charactersLeft -= text.length;
        return true;
      }
      return false;
    }),
  );
  return { kept, isCut };
}
