/** Joins cues into passages: what is said within about a minute is searched together, like a page. Pure functions. */
import type { Cue } from './types.js';

/** Limit from the first cue of a passage to the last. */
const PASSAGE_SECONDS_MAX = 60;
/** Limit on the characters of a passage; a longer cue is a passage of its own. */
const PASSAGE_CHARACTERS_MAX = 600;
/** A longer cue is cut at blanks. */
const CUE_CHARACTERS_MAX = 2000;
const HIGH_SURROGATE = /[\uD800-\uDBFF]/;

/** Returns passages in order of time. Cues that begin together keep their order. */
export function passagesOf(cues: readonly Cue[]): (readonly Cue[])[] {
  const passages: (readonly Cue[])[] = [];
  let passage: Cue[] = [];
  let characters = 0;
  for (const cue of [...cues].sort((a, b) => a.seconds - b.seconds).flatMap(cutCue)) {
    const [first = cue] = passage;
    const isFull = characters + cue.text.length > PASSAGE_CHARACTERS_MAX;
    if (passage.length > 0 && (isFull || cue.seconds - first.seconds > PASSAGE_SECONDS_MAX)) {
      passages.push(passage);
      passage = [];
      characters = 0;
    }
    passage.push(cue);
    characters += cue.text.length;
  }
  if (passage.length > 0) passages.push(passage);
  return passages;
}

function cutCue({ seconds, text }: Cue): Cue[] {
  const cues: Cue[] = [];
  for (let rest = text; rest !== '';) {
    let end = rest.length;
    if (end > CUE_CHARACTERS_MAX) {
      const blank = rest.lastIndexOf(' ', CUE_CHARACTERS_MAX);
      end = blank > 0 ? blank : CUE_CHARACTERS_MAX;
    }
    // Does not cut a surrogate pair.
    if (end < rest.length && HIGH_SURROGATE.test(rest.charAt(end - 1))) end += 1;
    cues.push({ seconds, text: rest.slice(0, end) });
    rest = rest.slice(end).trimStart();
  }
  return cues;
}
