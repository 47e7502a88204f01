/**
 * Spellings that differ in optional marks only. Devanagari: the sign of a nasal or the nasal letter of the class
 * (हिंदी, हिन्दी), the two nasal signs, and the dot for a foreign sound (ज़रूरत, जरूरत). Hebrew: the marks of an
 * abbreviation or of a foreign sound (צה״ל, צהל). Katakana: the long-vowel mark at the end (サーバー, サーバ), and v or b
 * (ヴァイオリン, バイオリン).
 */

interface Place {
  readonly typed: string;
  /** Without marks. */
  readonly plain: string;
  /** Other spellings of this place. */
  readonly others: readonly string[];
}

const VIRAMA = '\u094d';
const NUKTA = '\u093c';
const ANUSVARA = '\u0902';
const CANDRABINDU = '\u0901';
/** Classes of letters, with the nasal that is written as a sign before them. */
const NASALS = [
  ['क-घ', 'ङ'],
  ['च-झ', 'ञ'],
  ['ट-ढ', 'ण'],
  ['त-ध', 'न'],
  ['प-भ', 'म'],
].map(([letters, nasal]) => ({
  conjunct: `${nasal as string}${VIRAMA}`,
  pattern: `${nasal as string}${VIRAMA}(?=[${letters as string}])`,
  before: new RegExp(`^[${letters as string}]`, 'u'),
}));
const DEVANAGARI = new RegExp(
  `${NASALS.map(({ pattern }) => pattern).join('|')}|[${CANDRABINDU}${ANUSVARA}]|[कखगजडढफ]${NUKTA}?`,
  'gu',
);
/** Matches marks in folded form. */
const HEBREW = /["']|[גזצ](?!')|(?=\p{sc=Hebr}$)/gu;
const HAS_DEVANAGARI = /\p{sc=Deva}/u;
/** An abbreviation may consist of two letters with the mark between them (ד״ר). */
const HAS_HEBREW = /\p{sc=Hebr}["']?\p{sc=Hebr}/u;
const HAS_MARK = /["']/u;

const LONG_MARK = 'ー';
const KATAKANA_WORD = /^[\p{sc=Kana}ー]{3,}$/u;
const KATAKANA = /ヴ[ァィェォ]?|[バビブベボ]|(?:(?<=.{2})ー)?$/gu;
const V_AND_B = new Map(['ヴァバ', 'ヴィビ', 'ヴェベ', 'ヴォボ'].map((pair) => [pair.slice(0, 2), pair.slice(2)])).set(
  'ヴ',
  'ブ',
);
const B_AND_V = new Map([...V_AND_B].map(([v, b]) => [b, v]));

const ASCII = /^[ -~]*$/;
const NONE: readonly string[] = Object.freeze([]);

/** Limit on spellings of one word. Places that would exceed it stay as typed. */
const WAYS_MAX = 32;

/** Returns other spellings of a folded word, each once. */
export function markSpellings(term: string): readonly string[] {
  if (ASCII.test(term)) return NONE;
  if (KATAKANA_WORD.test(term)) return spellingsAt(term, placesOf(term, KATAKANA, katakana));
  const isDevanagari = HAS_DEVANAGARI.test(term);
  if (!isDevanagari && !HAS_HEBREW.test(term)) return [];
  const places = isDevanagari ? placesOf(term, DEVANAGARI, devanagari) : placesOf(term, HEBREW, hebrewOf(term));
  return spellingsAt(term, places);
}

function spellingsAt(term: string, places: readonly Place[]): readonly string[] {
  const unmarked = places.map(({ plain }) => plain).join('');
  return [...new Set([unmarked, ...waysOf(places)])].filter((way) => way !== term);
}

function waysOf(places: readonly Place[]): readonly string[] {
  let ways = [''];
  for (const { typed, others } of places) {
    const choices = ways.length * (others.length + 1) > WAYS_MAX ? [typed] : [typed, ...others];
    ways = ways.flatMap((way) => choices.map((choice) => way + choice));
  }
  return ways;
}

type PlaceOf = (typed: string, behind: string) => Place;

function placesOf(term: string, pattern: RegExp, placeOf: PlaceOf): readonly Place[] {
  const places: Place[] = [];
  let begin = 0;
  for (const { 0: typed, index } of term.matchAll(pattern)) {
    const end = index + typed.length;
    places.push(asTyped(term.slice(begin, index)), placeOf(typed, term.slice(end)));
    begin = end;
  }
  return [...places, asTyped(term.slice(begin))];
}

function asTyped(typed: string): Place {
  return { typed, plain: typed, others: [] };
}

function katakana(typed: string): Place {
  if (typed === '' || typed === LONG_MARK) return { typed, plain: '', others: [typed === '' ? LONG_MARK : ''] };
  const [v, b] = [V_AND_B.get(typed), B_AND_V.get(typed)];
  return { typed, plain: v ?? typed, others: [v ?? b ?? typed] };
}

function devanagari(typed: string, behind: string): Place {
  if (typed.endsWith(VIRAMA)) return { typed, plain: ANUSVARA, others: [ANUSVARA] };
  if (typed === ANUSVARA || typed === CANDRABINDU) {
    const conjunct = NASALS.find(({ before }) => before.test(behind))?.conjunct;
    const other = typed === ANUSVARA ? CANDRABINDU : ANUSVARA;
    return { typed, plain: ANUSVARA, others: conjunct === undefined ? [other] : [other, conjunct] };
  }
  if (!typed.endsWith(NUKTA)) return { typed, plain: typed, others: [`${typed}${NUKTA}`] };
  const plain = typed.slice(0, -NUKTA.length);
  return { typed, plain, others: [plain] };
}

function hebrewOf(term: string): PlaceOf {
  const hasMark = HAS_MARK.test(term);
  return (typed, behind) => {
    if (HAS_MARK.test(typed)) return { typed, plain: '', others: [''] };
    // An abbreviation has its mark before the last letter.
    if (typed === '') return { typed, plain: '', others: hasMark ? [] : ['"'] };
    // A mark after the last letter is not part of the word.
    if (behind === '') return { typed, plain: typed, others: hasMark ? [] : [`"${typed}`] };
    return { typed, plain: typed, others: [`${typed}'`] };
  };
}
