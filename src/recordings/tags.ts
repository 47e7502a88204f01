/** Reads a file's tags, such as title and artist, its chapters, and lyrics in its tags. */
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
  /** In seconds. */
  readonly duration: number | undefined;
  /** All at second 0, since they concern the whole file. */
  readonly tags: readonly Cue[];
  readonly chapters: readonly Cue[];
  /** Lyrics, with times or without. */
  readonly lyrics: readonly Cue[];
}

/** Tags that contain words, in the order in which they are read. */
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
/** Chapters of Ogg and FLAC files: a time and a name with the same number. */
const CHAPTER_TIME = /^CHAPTER(\d{1,4})$/iu;
const CHAPTER_NAME = /^CHAPTER(\d{1,4})NAME$/iu;
const CLOCK = /^(\d{1,4}):(\d{1,2}):(\d{1,2}(?:\.\d{1,9})?)$/u;
const MINUTE_SECONDS = 60;

/** Rejects with the library's error for an invalid file. */
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

/** Returns the texts of any form of tag: a text, several, or a comment with a text. */
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

/** Lyrics without times may lack them at run time, whatever the library's types say. */
function lyricsOf({ text = '', syncText = [], timeStampFormat }: Partial<ILyricsTag>): Cue[] {
  const isTimed = timeStampFormat === TimestampFormat.milliseconds;
  const timed = syncText.flatMap((line) => cuesOf(isTimed ? (line.timestamp ?? 0) / MILLISECONDS : 0, line.text));
  return timed.length > 0 ? timed : text.split(/[\r\n]+/u).flatMap((line) => cuesOf(0, line));
}

function cuesOf(seconds: number, text: unknown): Cue[] {
  const line = typeof text === 'string' ? plainText(text) : '';
  return line === '' || !Number.isFinite(seconds) ? [] : [{ seconds: Math.max(0, seconds), text: line }];
}
