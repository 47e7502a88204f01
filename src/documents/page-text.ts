/**
 * The text of a page as a reader sees it, out of what its fonts and operators say: lines, words that go on in the next line, characters
 * that are only forms of others, and what has no meaning as text.
 */

/** PDFium's mark for a hyphen at the end of a line, whose break it leaves out: the word goes on where a small letter follows. */
const CUT_WORD = /\uFFFE(?=\p{Ll})/gu;
const HYPHEN_MARK = /\uFFFE/g;
const HYPHEN_AT_END = /(?<=\p{L})[\u00AD\u2010-]\r?\n(?=\p{Ll})/gu;
const SOFT_HYPHEN = /\u00AD/g;
const LINE_END = /\r\n?/g;
const CONTROL = /(?![\t\n\r])\p{Cc}/gu;
/** Marks of direction and order, what is no character, or is one to some alone. */
const WITHOUT_MEANING = /[\p{Co}\p{Cs}\p{Cn}\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFC\uFFFD]/gu;
/** Letters of presentation: ligatures and the shapes that Arabic letters have in a word, halves and wholes of the width. */
const PRESENTATION = /[\uFB00-\uFDFF\uFE70-\uFEFC\uFF01-\uFF9F\u2F00-\u2FDF]/g;
/** Blanks that were made of the distance between characters which are written without blanks. */
const BLANK_IN_IDEOGRAPHS =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー、。，（）])[ \u3000](?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー、。，（）])/gu;
/** What fonts of TeX have at these places (the T1 encoding), where nothing else tells. */
const TEX_GLYPHS: ReadonlyMap<string, string> = new Map([
  ['\x10', '“'],
  ['\x11', '”'],
  ['\x15', '–'],
  ['\x16', '—'],
  ['\x1B', 'ff'],
  ['\x1C', 'fi'],
  ['\x1D', 'fl'],
  ['\x1E', 'ffi'],
  ['\x1F', 'ffl'],
]);
const LETTERS_LOOKED_AT_MIN = 8;
const SHARE_OF_BYTES_MIN = 0.9;

/** `raw` is what the fonts say, lines ended as may be; the text has line feeds, and no blank at an end of a line. */
export function pageText(raw: string): string {
  return withoutControls(readAsUtf8(raw))
    .replace(CUT_WORD, '')
    .replace(HYPHEN_MARK, '-')
    .replace(HYPHEN_AT_END, '')
    .replace(SOFT_HYPHEN, '')
    .replace(LINE_END, '\n')
    .replace(WITHOUT_MEANING, '')
    .replace(PRESENTATION, (character) => character.normalize('NFKC'))
    .replace(/[ \t\u00A0]+/g, ' ')
    .replace(BLANK_IN_IDEOGRAPHS, '')
    .replace(/ ?\n ?/g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

/** They are places in fonts that do not tell their letters: those of TeX where all are, else they divide words. */
function withoutControls(text: string): string {
  const controls = text.match(CONTROL);
  if (controls === null) return text;
  const isTex = controls.every((control) => TEX_GLYPHS.has(control));
  return text.replace(CONTROL, (control) => (isTex ? (TEX_GLYPHS.get(control) ?? ' ') : ' '));
}

/**
 * Some producers write UTF-8 where a font's table of characters wants UTF-16: two bytes of one letter then look like one of another
 * script. Text in which nearly every letter beyond U+00FF is such a pair is that; in text that is right, a quarter are so by chance.
 */
function readAsUtf8(text: string): string {
  let letters = 0;
  let pairs = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code <= 0xff || isSign(code)) continue;
    letters += 1;
    if (isPair(code)) pairs += 1;
  }
  if (letters < LETTERS_LOOKED_AT_MIN || pairs < letters * SHARE_OF_BYTES_MIN) return text;
  return text.replace(/[\uC280-\uD7FF]/g, (character) => {
    const code = character.charCodeAt(0);
    return isPair(code) ? String.fromCharCode(((code >> 8) & 0x1f) * 64 + (code & 0x3f)) : character;
  });
}

/** A byte that begins a letter of two in UTF-8, and one that ends it; those from U+D800 on are halves of other characters. */
function isPair(code: number): boolean {
  return code >= 0xc280 && code <= 0xd7ff && (code & 0xc0) === 0x80;
}

/** General punctuation to symbols, as № is one. */
function isSign(code: number): boolean {
  return code >= 0x2000 && code <= 0x2bff;
}
