/** Where subtitles lie beside a recording: under its name, with another ending. Pure. */
import { mediaPlace, mediaUrl } from '../fields/index.js';

const SUBTITLE_ENDINGS = ['vtt', 'srt'] as const;
const SUBTITLES = /\.(?:vtt|srt)$/iu;
const ENDING = /\.[^./]+$/u;
/** Of recordings that are read, as they are commonly named. */
const RECORDING_ENDINGS = [
  ...['mp4', 'm4v', 'mov', 'webm', 'mkv', 'ogv', '3gp'],
  ...['mp3', 'm4a', 'm4b', 'ogg', 'oga', 'opus', 'flac', 'wav', 'aac', 'aif', 'aiff', 'mka'],
];

/** None where the name of the recording has no ending. */
export function subtitleUrls(url: string): string[] {
  return withEndings(url, SUBTITLE_ENDINGS);
}

/** The recordings beside which a file of subtitles may lie; none of another file. */
export function recordingUrls(url: string): string[] {
  return SUBTITLES.test(url) ? withEndings(url, RECORDING_ENDINGS) : [];
}

function withEndings(url: string, endings: readonly string[]): string[] {
  const place = mediaPlace(url);
  if (place !== undefined) return otherNames(place.path, endings).map((path) => mediaUrl(place.store, path));
  if (!URL.canParse(url)) return [];
  const parsed = new URL(url);
  // What is asked for beside the path belongs to the one file.
  return otherNames(parsed.pathname, endings).map((path) => `${parsed.origin}${path}`);
}

function otherNames(path: string, endings: readonly string[]): string[] {
  if (!ENDING.test(path)) return [];
  return endings.map((ending) => path.replace(ENDING, `.${ending}`)).filter((other) => other !== path);
}
