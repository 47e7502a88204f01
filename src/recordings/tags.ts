/** What a file says of itself: title, artist and other tags, its chapters, and words that lie in its tags. */
import {
  parseBuffer,
  TimestampFormat,
  type IAudioMetadata,
  type ICommonTagsResult,
  type ILyricsTag,
} from 'music-metadata';
import { plainText } from './subtitles/plain-text.js';
import type { Cue } from './types.js';

export interface Tags {
  /** Seconds. */
  readonly duration: number | undefined;
  /** All at second 0: they are of the whole. */
  readonly tags: readonly Cue[];
  readonly chapters: readonly Cue[];
  /** Words with their times, or without. */
  readonly lyrics: readonly Cue[];
}

/** Tags that have words in them, in the order in which they are read. */
const WORDS = [
  'title',
  'subtitle',
  'artist',
  'artists',
  'album',
  'albumartist',
  'composer',
  'lyricist',
  'writer',
  'conductor',
  'producer',
  'publisher',
  'label',
  'work',
  'movement',
  'grouping',
  'genre',
  'category',
  'keywords',
  'tvShow',
  'tvEpisodeId',
  'tvNetwork',
  'date',
  'comment',
  'description',
  'longDescription',
  'notes',
  'copyright',
] as const satisfies readonly (keyof ICommonTagsResult)[];
const MILLISECONDS = 1000;
/** Chapters as Ogg and FLAC files have them: a time and a name with one number. */
const CHAPTER_TIME = /^CHAPTER(\d{1,4})$/iu;
const CHAPTER_NAME = /^CHAPTER(\d{1,4})NAME$/iu;
const CLOCK = /^(\d{1,4}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)$/u;
const MINUTE_SECONDS = 60;

/** Rejects with what the library says of a file that is not as it should be. */
export async function readTags(bytes: Uint8Array, mimeType: string): Promise<Tags> {
  const metadata = await parseBuffer(
    bytes,
    { mimeType, size: bytes.length },
    { skipCovers: true, duration: false, includeChapters: false },
  );
  const { common, format } = metadata;
  const { duration } = format;
  return {
    duration: duration !== undefined && Number.isFinite(duration) && duration >= 0 ? duration : undefined,
    tags: [...new Set(WORDS.flatMap((name) => textsOf(common[name])))].map((text) => ({ seconds: 0, text })),
    chapters: [...chaptersOf(metadata), ...commentedChapters(metadata)],
    lyrics: (common.lyrics ?? []).flatMap(lyricsOf),
  };
}

/** Of whatever form: a text, several, or a comment that has one. */
function textsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(textsOf);
  const text = typeof value === 'object' && value !== null && 'text' in value ? value.text : value;
  const line = typeof text === 'string' ? plainText(text) : '';
  return line === '' ? [] : [line];
}

function chaptersOf({ format }: IAudioMetadata): Cue[] {
  return (format.chapters ?? []).flatMap(({ title, start, timeScale = 1 }) => cuesOf(start / timeScale, title));
}

function commentedChapters({ native }: IAudioMetadata): Cue[] {
  const comments = native['vorbis'] ?? [];
  const times = new Map<string, number>();
  for (const { id, value } of comments) {
    const [, number] = CHAPTER_TIME.exec(id) ?? [];
    const [, hours, minutes, seconds] = (typeof value === 'string' && CLOCK.exec(value)) || [];
    if (number !== undefined && hours !== undefined)
      times.set(number, (Number(hours) * MINUTE_SECONDS + Number(minutes)) * MINUTE_SECONDS + Number(seconds));
  }
  return comments.flatMap(({ id, value }) => {
    const [, number = ''] = CHAPTER_NAME.exec(id) ?? [];
    const seconds = times.get(number);
    return seconds === undefined ? [] : cuesOf(seconds, value);
  });
}

/** Words without times have none, whatever the library's types say. */
function lyricsOf({ text = '', syncText = [], timeStampFormat }: Partial<ILyricsTag>): Cue[] {
  const isTimed = timeStampFormat === TimestampFormat.milliseconds;
  const timed = syncText.flatMap((line) => cuesOf(isTimed ? (line.timestamp ?? 0) / MILLISECONDS : 0, line.text));
  return timed.length > 0 ? timed : text.split(/[\r\n]+/u).flatMap((line) => cuesOf(0, line));
}

function cuesOf(seconds: number, text: unknown): Cue[] {
  const line = typeof text === 'string' ? plainText(text) : '';
  return line === '' || !Number.isFinite(seconds) ? [] : [{ seconds: Math.max(0, seconds), text: line }];
}
