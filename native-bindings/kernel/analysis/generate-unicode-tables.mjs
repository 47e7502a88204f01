// Writes unicode_tables.inc: the character classes and foldings that unicode_data.cc compiles in.
//
//   node native-bindings/kernel/analysis/generate-unicode-tables.mjs
//
// Everything comes from the Unicode data inside Node.js (regular expressions, normalize, case mapping), so a
// newer Node.js gives newer tables. The result is committed: running the service never depends on this script.
import { writeFileSync } from 'node:fs';

/** Code points from here on have no folding and are classified by range in unicode_data.cc. */
const TABLE_END = 0x30000;
const BLOCK_BITS = 6;
const BLOCK_SIZE = 1 << BLOCK_BITS;

// The order is that of enum class WordClass in unicode_data.h.
const CLASSES = [
  'Other', 'Extend', 'ZeroWidthJoiner', 'Letter', 'HebrewLetter', 'Numeric', 'Katakana', 'Ideograph', 'Complex',
  'ExtendNumLet', 'MidLetter', 'MidNum', 'MidNumLet', 'SingleQuote', 'DoubleQuote', 'RegionalIndicator',
  'Pictographic', 'Hangul',
]; // prettier-ignore
const FLAG_WORD = 0x20; // a word that contains it is a token
const FLAG_DICTIONARY = 0x40; // of a script that only a dictionary can cut into words
const FLAG_NORMALIZE = 0x80; // its folding may reorder or compose with its neighbours

const set = (...items) => {
  const result = new Set();
  for (const item of items) {
    if (Array.isArray(item)) for (let code = item[0]; code <= item[1]; code++) result.add(code);
    else result.add(item);
  }
  return result;
};

// --- Word classes (UAX 29, table 3, as ICU has it).

const MID_LETTER = set(0x3a, 0xb7, 0x387, 0x55f, 0x5f4, 0x2027, 0xfe13, 0xfe55, 0xff1a);
const MID_NUM_LET = set(0x2e, 0x2018, 0x2019, 0x2024, 0xfe52, 0xff07, 0xff0e);
const MID_NUM = set(
  0x2c, 0x3b, 0x37e, 0x589, 0x60c, 0x60d, 0x66c, 0x7f8, 0x2044, 0xfe50, 0xfe54, 0xff0c, 0xff1b,
); // prettier-ignore
const LETTER_EXTRA = set(
  0xb8, [0x2c2, 0x2c5], [0x2d2, 0x2d7], 0x2de, 0x2df, [0x2e5, 0x2eb], 0x2ed, [0x2ef, 0x2ff], [0x55a, 0x55c], 0x55e, 0x58a,
  0x5f3, 0x70f, [0xa708, 0xa716], 0xa720, 0xa721, 0xa789, 0xa78a, 0xab5b,
); // prettier-ignore
const KATAKANA_EXTRA = set([0x3031, 0x3035], 0x309b, 0x309c, 0x30a0, 0x30fc, 0xff70);
// Letters of the scripts without spaces for which ICU has a dictionary, except Han and kana. Letters of scripts for
// which it has none (Tai Le, New Tai Lue, Tai Tham, Tai Viet, Ahom; also Line_Break=Complex_Context) behave like other
// letters.
const COMPLEX = /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;
const DICTIONARY = /[\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\u30fc]/u;
const PREPENDED_NUMBER_SIGN = set([0x600, 0x605], 0x6dd, 0x890, 0x891, 0x8e2, 0x110bd, 0x110cd);

function wordClass(code, text) {
  if (code === 0x22) return 'DoubleQuote';
  if (code === 0x27) return 'SingleQuote';
  if (code === 0x200d) return 'ZeroWidthJoiner';
  if (code === 0x200b) return 'Other';
  if (MID_LETTER.has(code)) return 'MidLetter';
  if (MID_NUM_LET.has(code)) return 'MidNumLet';
  if (MID_NUM.has(code)) return 'MidNum';
  if (PREPENDED_NUMBER_SIGN.has(code)) return 'Numeric';
  if (/[\p{Grapheme_Extend}\p{Mc}\p{Emoji_Modifier}]/u.test(text)) return 'Extend';
  if (/\p{Cf}/u.test(text) && code !== 0x70f) return 'Extend'; // Format, which behaves the same
  if (/\p{Regional_Indicator}/u.test(text)) return 'RegionalIndicator';
  if (/\p{sc=Katakana}/u.test(text) || KATAKANA_EXTRA.has(code)) return 'Katakana';
  if (/[\p{sc=Han}\p{sc=Hiragana}\p{Ideographic}]/u.test(text)) {
    return /[\p{L}\p{N}\p{Ideographic}\p{sc=Han}]/u.test(text) ? 'Ideograph' : 'Other';
  }
  if (/\p{Nd}/u.test(text) || code === 0x66b) return 'Numeric';
  if (/\p{Pc}/u.test(text) || code === 0x202f) return 'ExtendNumLet';
  if (/\p{sc=Hebrew}/u.test(text) && /\p{Lo}/u.test(text)) return 'HebrewLetter';
  if (COMPLEX.test(text)) return /\p{L}/u.test(text) ? 'Complex' : 'Other';
  // ICU ends a word where Hangul meets another script or a full stop (KBS뉴스, 2024년), because Korean writes particles
  // and counters without a space. Jamo are treated like the syllables that they form.
  if (/\p{sc=Hangul}/u.test(text) && /\p{L}/u.test(text)) return 'Hangul';
  if (/\p{Alphabetic}/u.test(text) || LETTER_EXTRA.has(code)) return 'Letter';
  if (/\p{Extended_Pictographic}/u.test(text)) return 'Pictographic';
  return 'Other';
}

/**
 * Returns true for letters, numbers, ideographs and emoji. Signs such as © and arrows, which Unicode lists as emoji,
 * are not words.
 */
function isWord(code, text, name) {
  if (['Letter', 'HebrewLetter', 'Ideograph', 'RegionalIndicator'].includes(name)) return true;
  if (name === 'Extend') return false;
  if (/[\p{L}\p{N}]/u.test(text)) return true;
  return code >= 0x231a && code !== 0x3030 && code !== 0x303d && /\p{Emoji}/u.test(text);
}

// --- Folding

// Letters that Unicode does not decompose, with what people type who do not have the key.
const LETTERS = new Map(
  Object.entries({
    // Latin: strokes, hooks and ligatures.
    æ: 'ae', œ: 'oe', ø: 'o', đ: 'd', ð: 'd', ł: 'l', þ: 'th', ħ: 'h', ŧ: 't', ŋ: 'n', ı: 'i', ȷ: 'j', ĸ: 'k',
    ƀ: 'b', ɓ: 'b', ƃ: 'b', ƈ: 'c', ȼ: 'c', ɗ: 'd', ɖ: 'd', ƌ: 'd', ɛ: 'e', ǝ: 'e', ə: 'e', ɇ: 'e', ƒ: 'f', ɠ: 'g',
    ǥ: 'g', ɣ: 'g', ɨ: 'i', ɩ: 'i', ɉ: 'j', ƙ: 'k', ⱪ: 'k', ƚ: 'l', ɫ: 'l', ɬ: 'l', ɲ: 'n', ƞ: 'n', ɔ: 'o', ɵ: 'o',
    ƥ: 'p', ᵽ: 'p', ɋ: 'q', ɍ: 'r', ɽ: 'r', ʂ: 's', ȿ: 's', ʃ: 's', ƭ: 't', ʈ: 't', ⱦ: 't', ʉ: 'u', ʊ: 'u', ʋ: 'v',
    ʌ: 'v', ⱳ: 'w', ƴ: 'y', ɏ: 'y', ƶ: 'z', ȥ: 'z', ⱬ: 'z', ɀ: 'z', ʒ: 'z', ƣ: 'oi', ȣ: 'ou', ƕ: 'hv', ꜳ: 'aa',
    ꜵ: 'ao', ꜷ: 'au', ꜹ: 'av', ꜽ: 'ay', ꝏ: 'oo', ꝡ: 'vy',
    // Arabic: wasla, teh marbuta, the yehs and kafs of Persian and Urdu keyboards. The hamza forms decompose.
    '\u0671': '\u0627', '\u0629': '\u0647', '\u0649': '\u064a', '\u06cc': '\u064a', '\u06a9': '\u0643',
    '\u06c1': '\u0647', '\u06d5': '\u0647', '\u06c3': '\u0647', '\u066b': '.', '\u066c': ',',
    // Apostrophes (also the letter apostrophe and okina), geresh and gershayim.
    '\u2018': "'", '\u2019': "'", '\u201b': "'", '\u02bc': "'", '\u02bb': "'", '\u05f3': "'", '\u05f4': '"',
    // Cyrillic palochka is typed as I, l or 1; its capital and small letter differ only by case.
    '\u04c0': '\u04cf',
  }),
); // prettier-ignore

// Combining marks that people leave out when typing: diacritics, Hebrew points, Arabic harakat and signs.
const MARKS = set(
  [0x300, 0x36f], [0x1ab0, 0x1aff], [0x1dc0, 0x1dff], [0x20d0, 0x20ff], [0xfe20, 0xfe2f], [0x483, 0x489],
  [0x591, 0x5bd], 0x5bf, 0x5c1, 0x5c2, 0x5c4, 0x5c5, 0x5c7, [0x610, 0x61a], [0x64b, 0x65f], 0x670,
  [0x6d6, 0x6dc], [0x6df, 0x6e4], 0x6e7, 0x6e8, [0x6ea, 0x6ed], [0x898, 0x89f], [0x8ca, 0x8e1], [0x8e3, 0x8ff],
); // prettier-ignore
// Tatweel stretches a word; the middle dots occur within Catalan words (col·lecció) and are often left out.
const DROPPED = set(0x640, 0xb7, 0x2027);

function digitValue(code) {
  let first = code;
  while (/\p{Nd}/u.test(String.fromCodePoint(first - 1))) first--;
  return String((code - first) % 10);
}

function foldOnce(character) {
  const code = character.codePointAt(0);
  if (MARKS.has(code) || DROPPED.has(code)) return '';
  if (/[\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Emoji_Modifier}]/u.test(character)) return '';
  if (/\p{Nd}/u.test(character)) return digitValue(code);
  // Upper case, then lower case, is Unicode's full case folding except for Cherokee, whose direction does not matter
  // here.
  const folded = character.toUpperCase().toLowerCase();
  return LETTERS.get(folded) ?? folded;
}

function fold(text) {
  const folded = foldFully(text);
  // Numbers in brackets or with a full stop, and half a fraction: the number is the word.
  return /\p{No}/u.test(text) ? folded.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '') : folded;
}

/** Letters that decompose but are letters of their own, whose mark is never left out: Russian stems need й. */
const WHOLE = /[йЙ]/u;

function foldFully(text) {
  const [whole, ...more] = text.normalize('NFKC');
  if (more.length === 0 && WHOLE.test(whole)) return whole.toLowerCase();
  let current = text;
  for (let round = 0; round < 8; round++) {
    const next = [...current.normalize('NFKD')].map(foldOnce).join('').normalize('NFC');
    if (next === current) return next;
    current = next;
  }
  throw new Error(`folding does not settle: U+${text.codePointAt(0).toString(16)}`);
}

// --- What stays after folding and takes part in canonical ordering or composition

/** Combining classes as ranks: equal if Unicode's are equal, and in the same order; 0 for starters. */
function combiningRanks(codes) {
  const swaps = (a, b) => `${a}${b}`.normalize('NFD') === `${b}${a}`;
  // A mark has a class other than 0 exactly when a mark of a known class moves across it one way or the other.
  const probes = ['\u0334', '\u0345']; // the lowest (1) and highest (240) class
  const classes = []; // representatives, ascending
  const ranks = new Map();
  const nonStarters = codes
    .map((code) => String.fromCodePoint(code))
    .filter((mark) => swaps(mark, probes[0]) || swaps(probes[1], mark) || mark === probes[0] || mark === probes[1]);
  for (const mark of nonStarters) {
    let index = 0;
    while (index < classes.length && swaps(mark, classes[index])) index++;
    if (index === classes.length || swaps(classes[index], mark)) classes.splice(index, 0, mark);
  }
  for (const mark of nonStarters) {
    const rank = classes.findIndex((other) => !swaps(mark, other) && !swaps(other, mark));
    ranks.set(mark.codePointAt(0), rank + 1);
  }
  return ranks;
}

function compositions(kept) {
  const pairs = [];
  for (const code of kept) {
    const text = String.fromCodePoint(code);
    const decomposed = [...text.normalize('NFD')];
    const isHangul = code >= 0xac00 && code <= 0xd7a3; // composed by arithmetic
    if (isHangul || decomposed.length < 2 || text.normalize('NFC') !== text) continue;
    const first = [...decomposed.slice(0, -1).join('').normalize('NFC')];
    if (first.length !== 1) throw new Error(`no primary composite: U+${code.toString(16)}`);
    pairs.push([first[0].codePointAt(0), decomposed.at(-1).codePointAt(0), code]);
  }
  return pairs.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

// --- Tables

const foldings = new Map(); // code -> folded, where it differs
const kept = []; // code points that are their own folding
for (let code = 0x80; code < TABLE_END; code++) {
  if (code >= 0xd800 && code <= 0xdfff) continue;
  const text = String.fromCodePoint(code);
  if (/\p{Cn}/u.test(text) && !/\p{Default_Ignorable_Code_Point}/u.test(text)) continue;
  const folded = fold(text);
  if (folded === text) kept.push(code);
  else foldings.set(code, folded);
}
const ranks = combiningRanks(kept.filter((code) => /\p{M}/u.test(String.fromCodePoint(code))));
const pairs = compositions(kept);
const normalizing = new Set([...ranks.keys(), ...pairs.map((pair) => pair[1])]);
for (const [first, last] of [[0x1161, 0x1175], [0x11a8, 0x11c2]]) {
  for (let code = first; code <= last; code++) normalizing.add(code); // vowels and finals join what is before them
} // prettier-ignore

const pool = [];
const poolOffsets = new Map();
const encoder = new TextEncoder();
function poolOffset(folded) {
  if (folded === '') return 1;
  let offset = poolOffsets.get(folded);
  if (offset === undefined) {
    const bytes = encoder.encode(folded);
    offset = pool.length + 2; // 0 is "unchanged", 1 is "removed"
    pool.push(bytes.length, ...bytes);
    poolOffsets.set(folded, offset);
  }
  return offset;
}

function twoStage(valueOf) {
  const blocks = new Map();
  const index = [];
  for (let start = 0; start < TABLE_END; start += BLOCK_SIZE) {
    const block = Array.from({ length: BLOCK_SIZE }, (_, i) => valueOf(start + i));
    const key = block.join(',');
    if (!blocks.has(key)) blocks.set(key, blocks.size);
    index.push(blocks.get(key));
  }
  return { index, blocks: [...blocks.keys()].flatMap((key) => key.split(',').map(Number)) };
}

const classTable = twoStage((code) => {
  if (code >= 0xd800 && code <= 0xdfff) return 0;
  const text = String.fromCodePoint(code);
  const name = wordClass(code, text);
  let value = CLASSES.indexOf(name);
  if (isWord(code, text, name)) value |= FLAG_WORD;
  if (DICTIONARY.test(text) && value !== 0) value |= FLAG_DICTIONARY;
  if ([...(foldings.get(code) ?? text)].some((one) => normalizing.has(one.codePointAt(0)))) value |= FLAG_NORMALIZE;
  return value;
});
const foldTable = twoStage((code) => (foldings.has(code) ? poolOffset(foldings.get(code)) : 0));

function array(type, name, values) {
  const lines = [];
  let line = ' ';
  for (const value of values) {
    const item = `${value},`;
    if (line.length + item.length > 119) {
      lines.push(line);
      line = ' ';
    }
    line += item;
  }
  lines.push(line);
  return `inline constexpr ${type} ${name}[${values.length}] = {\n${lines.join('\n')}\n};\n`;
}

const output = `// Generated by generate-unicode-tables.mjs from Unicode ${process.versions.unicode}; do not edit.
// clang-format off
inline constexpr char kUnicodeVersion[] = "${process.versions.unicode}";
inline constexpr uint32_t kTableEnd = ${TABLE_END};
inline constexpr uint32_t kTableBlockBits = ${BLOCK_BITS};
${array('uint16_t', 'kClassIndex', classTable.index)}
${array('uint8_t', 'kClassBlocks', classTable.blocks)}
${array('uint16_t', 'kFoldIndex', foldTable.index)}
${array('uint16_t', 'kFoldBlocks', foldTable.blocks)}
// Length and UTF-8 of each folding; offsets in kFoldBlocks are 2 higher.
${array('uint8_t', 'kFoldPool', pool)}
// Mark, rank of its canonical combining class; ascending.
${array('uint32_t', 'kCombiningRanks', [...ranks].sort((a, b) => a[0] - b[0]).flat())}
// First, second, composite; ascending.
${array('uint32_t', 'kCompositions', pairs.flat())}// clang-format on
`;
writeFileSync(new URL('unicode_tables.inc', import.meta.url), output);
console.log(
  `Unicode ${process.versions.unicode}: ${foldings.size} foldings, ${ranks.size} marks, ${pairs.length} compositions, ` +
    `${output.length} bytes of source`,
);
