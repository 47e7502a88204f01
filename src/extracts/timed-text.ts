/**
 * Encodes a passage of a recording as the text of a page: one line per cue, which begins with its time.
 *
 *   seconds, in decimals | a blank | text without a line end
 */
import type { Passage } from './file-reader.js';

const MILLISECONDS = 1000;

export function encodePassage(passage: Passage): string {
  return passage
    .map(
      ({ seconds, text }) => `${Math.round(seconds * MILLISECONDS) / MILLISECONDS} ${text.replace(/[\r\n]+/gu, ' ')}`,
    )
    .join('\n');
}

/** Throws if the text is not an encoded passage. */
export function decodePassage(text: string): Passage {
  if (text === '') return [];
  return text.split('\n').map((line) => {
    const blank = line.indexOf(' ');
    const seconds = Number(line.slice(0, Math.max(0, blank)));
    if (blank < 1 || !Number.isFinite(seconds))
      throw new Error('what was read of a recording is not as it was written');
    return { seconds, text: line.slice(blank + 1) };
  });
}

/** Returns the text that is searched. */
export function textOfPassage(passage: Passage): string {
  return passage.map(({ text }) => text).join('\n');
}
