/** URLs of subtitles next to a recording: the same name with another extension. Pure functions. */
import { mediaPlace, mediaUrl } from '../fields/index.js';

const SUBTITLE_ENDINGS = ['vtt', 'srt'] as const;
const SUBTITLES = /\.(?:vtt|srt)$/iu;
const ENDING = /\.[^./]+$/u;
/** Common extensions of supported recordings. */
const RECORDING_ENDINGS = [
  ...['mp4', 'm4v', 'mov', 'webm', 'mkv', 'ogv', '3gp'],
  ...['mp3', 'm4a', 'm4b', 'ogg', 'oga', 'opus', 'flac', 'wav', 'aac', 'aif', 'aiff', 'mka'],
];

/** Returns the possible URLs of subtitles. Empty if the recording's name has no extension. */
export function subtitleUrls(url: string): string[] {
  return withEndings(url, SUBTITLE_ENDINGS);
}

/** Returns the possible recordings of a subtitle file. Empty for other files. */
export function recordingUrls(url: string): string[] {
  return SUBTITLES.test(url) ? withEndings(url, RECORDING_ENDINGS) : [];
}

function withEndings(url: string, endings: readonly string[]): string[] {
  const place = mediaPlace(url);
  if (place !== undefined) return otherNames(place.path, endings).map((path) => mediaUrl(place.store, path));
  if (!URL.canParse(url)) return [];
  const parsed = new URL(url);
  // Drops the query, which belongs to the one file.
  return otherNames(parsed.pathname, endings).map((path) => `${parsed.origin}${path}`);
}

function otherNames(path: string, endings: readonly string[]): string[] {
  if (!ENDING.test(path)) return [];
  return endings.map((ending) => path.replace(ENDING, `.${ending}`)).filter((other) => other !== path);
}
