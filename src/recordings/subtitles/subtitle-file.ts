/**
 * Reads subtitles in SubRip (`.srt`) and WebVTT (`.vtt`) format: the text between a line of times and a blank line.
 * Both are read in the same way, since many files mix them. Nothing fails: what is no cue is skipped. Pure functions.
 */
import { plainText } from './plain-text.js';
import type { Cue } from '../types.js';

/** Longer lines are truncated. */
const LINE_CHARACTERS_MAX = 10_000;
const TIMES = /^\s*(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})\s*-->\s*(?:\d{1,4}:)?\d{1,2}:\d{1,2}[.,]\d{1,3}/u;
const NUMBER_ALONE = /^\s*\d+\s*$/u;
const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;
const DIGITS_OF_A_FRACTION = 3;

/** Beginning of the text in which the first cue has to be. */
const HEAD_CHARACTERS = 10_000;

/** True if the text is probably a subtitle file: it says so, or has a cue near its beginning. */
export function isSubtitles(text: string): boolean {
  return /^\uFEFF?WEBVTT(?:\s|$)/u.test(text) || readSubtitles(text.slice(0, HEAD_CHARACTERS), 1).cues.length > 0;
}

export interface ReadCues {
  /** In file order. */
  readonly cues: readonly Cue[];
  /** True if there are more. */
  readonly truncated: boolean;
}

export function readSubtitles(text: string, cuesMax: number): ReadCues {
  const cues: Cue[] = [];
  let seconds: number | undefined;
  let said: string[] = [];
  const end = () => {
    const line = plainText(said.join(' '));
    if (seconds !== undefined && line !== '') cues.push({ seconds, text: line });
    seconds = undefined;
    said = [];
  };
  for (const line of linesOf(text)) {
    const begins = secondsOf(line);
    if (begins !== undefined) {
      // If there was no blank line, this cue's number was taken for a line of the last cue.
      if (NUMBER_ALONE.test(said.at(-1) ?? '')) said.pop();
      end();
      if (cues.length >= cuesMax) return { cues, truncated: true };
      seconds = begins;
    } else if (seconds === undefined) continue;
    else if (line.trim() === '') end();
    else said.push(line);
  }
  end();
  return { cues, truncated: false };
}

/** Yields lines lazily: a file may consist of line ends only. */
function* linesOf(text: string): Iterable<string> {
  for (let begin = 0; begin <= text.length;) {
    let end = begin;
    while (end < text.length && text[end] !== '\n' && text[end] !== '\r') end += 1;
    yield text.slice(begin, Math.min(end, begin + LINE_CHARACTERS_MAX));
    begin = end + (text.startsWith('\r\n', end) ? 2 : 1);
  }
}

/** Returns the start time of a line of times. Undefined if it is none. */
function secondsOf(line: string): number | undefined {
  const found = line.includes('-->') ? TIMES.exec(line) : null;
  if (found === null) return undefined;
  const [, hours = '0', minutes = '0', seconds = '0', fraction = '0'] = found;
  const milliseconds = Number(fraction.padEnd(DIGITS_OF_A_FRACTION, '0'));
  return Number(hours) * HOUR_SECONDS + Number(minutes) * MINUTE_SECONDS + Number(seconds) + milliseconds / 1000;
}
