/**
 * Texts and queries whose words are written in all the ways that searches treat specially, with frequencies as skewed as
 * in natural texts, so that blocks of long posting lists are really passed over.
 */
import type { SeededRandom } from '../support/random.js';

/** Words with parts, signs, points, thousands, initials; joined and compound words; stems, spellings and typos. */
const SPECIAL =
  `first_name last_name name first last www.example.com example.com example www com jane.doe doe parse_json
  parseJson parse json NullPointerException getElementById pointer exception element report_2024 report 2024 node.js node
  js nodejs lodash.debounce C C# C++ C++17 .NET ASP.NET net #tag @name tag R&D RD AT&T A/B I/O U.S. US U.S.A. USA usa
  Ph.D. phd 1,000 1000 1.000 v1.2.3 1.2.3 3.5 XR-500 XR500 xr 500 wifi wi-fi Wi-Fi wi fi e-mail email mail Müller mueller
  muller straße strasse dampf schiff Dampfschiff Dampfschifffahrt fahrt Daten Feld Datenfeld Datenfelder Feldern run runs
  running runner house houses housing receive recieve received believe the of and is new york nyc sofa couch tablet ipad
  first-name last.name name_of_the_first a_a_a a_b_a_b name_name first.first_first`.split(/\s+/);
const PHRASES = ['J. K. Rowling', 'new york', 'wi fi', 'first name', 'the house of the first', 'node js', 'xr 500'];
const SYLLABLES = ['ka', 'lo', 'mi', 'ra', 'ten', 'sol', 'ber', 'an', 'du', 'fi', 'gor', 'es'];

export interface Vocabulary {
  /** The most frequent first. */
  readonly words: readonly string[];
  /** Greater numbers make the frequent words more frequent. */
  readonly skew: number;
  readonly specialPercent: number;
}

export function madeVocabulary(random: SeededRandom): Vocabulary {
  const size = random.pick([6, 40, 400, 3000]);
  const words = new Set<string>();
  for (let tries = 0; tries < size * 3 && words.size < size; ++tries) {
    words.add(Array.from({ length: 1 + random.below(4) }, () => random.pick(SYLLABLES)).join(''));
  }
  return { words: [...words], skew: random.pick([1, 2, 4, 8]), specialPercent: random.pick([0, 2, 20, 60]) };
}

function wordOf(random: SeededRandom, { words, skew, specialPercent }: Vocabulary): string {
  if (random.below(100) < specialPercent) return random.below(12) === 0 ? random.pick(PHRASES) : random.pick(SPECIAL);
  return words[Math.floor(words.length * random.next() ** skew)] as string;
}

/** How long texts are, as shares of a hundred. */
function lengthOf(random: SeededRandom, longest: number): number {
  const share = random.below(100);
  if (share < 8) return 0;
  if (share < 40) return 1 + random.below(3);
  if (share < 90) return 1 + random.below(Math.min(14, longest));
  if (share < 99) return 1 + random.below(Math.min(80, longest));
  return 1 + random.below(longest);
}

/** `place` is where in the list the text stands, 0..1: words are more frequent in some parts of a list than in others. */
export function madeText(random: SeededRandom, vocabulary: Vocabulary, longest: number, place: number): string {
  const length = lengthOf(random, longest);
  const topic = vocabulary.words[Math.floor(place * 0.999 * vocabulary.words.length)] as string;
  const repeated = random.below(25) === 0 ? wordOf(random, vocabulary) : undefined;
  const texts: string[] = [];
  while (texts.length < length) {
    const draw = random.below(20);
    if (repeated !== undefined && draw < 12) texts.push(repeated);
    else if (draw === 19) texts.push(topic);
    else texts.push(wordOf(random, vocabulary));
  }
  const joint = random.below(60) === 0 ? random.pick(['_', '.', '-', ', ']) : ' ';
  return texts.join(joint);
}

function mistyped(random: SeededRandom, word: string): string {
  const at = random.below(word.length);
  return random.pick([
    word.slice(0, at) + word.slice(at + 1),
    `${word.slice(0, at)}x${word.slice(at + 1)}`,
    `${word.slice(0, at)}e${word.slice(at)}`,
    word.slice(0, Math.max(1, at)),
  ]);
}

export function madeQuery(random: SeededRandom, vocabulary: Vocabulary): string {
  // A few are as long as a text that somebody pastes.
  const count = random.below(16) === 0 ? 10 + random.below(70) : 1 + Math.min(random.below(6), random.below(6));
  const specialPercent = Math.max(vocabulary.specialPercent, random.pick([0, 30, 80]));
  const drawn = { ...vocabulary, specialPercent, skew: random.pick([1, vocabulary.skew, vocabulary.skew]) };
  const words = Array.from({ length: count }, () => {
    const word = wordOf(random, drawn);
    return random.below(8) === 0 ? mistyped(random, word) : word;
  });
  if (count > 1 && random.below(8) === 0) words.push(words[0] as string);
  return words.join(random.below(15) === 0 ? random.pick(['-', ', ', '_']) : ' ');
}
