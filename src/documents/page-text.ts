/**
 * Converts the raw text of a page into the text that a reader sees: joins hyphenated words, replaces presentation
 * forms, and removes characters without meaning as text.
 */

/**
 * PDFium's mark for a hyphen at the end of a line, without the line break. The word continues if a lower-case letter
 * follows.
 */
const CUT_WORD = /\uFFFE(?=\p{Ll})/gu;
const HYPHEN_MARK = /\uFFFE/g;
const HYPHEN_AT_END = /(?<=\p{L})[\u00AD\u2010-]\r?\n(?=\p{Ll})/gu;
const SOFT_HYPHEN = /\u00AD/g;
const LINE_END = /\r\n?/g;
const CONTROL = /(?![\t\n\r])\p{Cc}/gu;
/** Marks of direction and order, non-characters, and private-use characters. */
const WITHOUT_MEANING = /[\p{Co}\p{Cs}\p{Cn}\u200B\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF\uFFFC\uFFFD]/gu;
/** Presentation forms: ligatures, positional forms of Arabic letters, half-width and full-width forms. */
const PRESENTATION = /[\uFB00-\uFDFF\uFE70-\uFEFC\uFF01-\uFF9F\u2F00-\u2FDF]/g;
/** Blanks that PDFium derived from distances between characters of scripts without blanks. */
const BLANK_IN_IDEOGRAPHS =
  /(?<=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー、。，（）])[ \u3000](?=[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}ー、。，（）])/gu;
/** Glyphs of TeX fonts (T1 encoding) at these codes, used if the font does not state its characters. */
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

/** `raw` is the text from the fonts, with any line ends. The result has line feeds, and no blanks at line ends. */
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

/**
 * Replaces control characters, which are codes of fonts that do not state their characters: by TeX's glyphs if all of
 * them are such codes, otherwise by blanks.
 */
function withoutControls(text: string): string {
  const controls = text.match(CONTROL);
  if (controls === null) return text;
  const isTex = controls.every((control) => TEX_GLYPHS.has(control));
  return text.replace(CONTROL, (control) => (isTex ? (TEX_GLYPHS.get(control) ?? ' ') : ' '));
}

/**
 * Repairs text of producers that write UTF-8 where a font's character map requires UTF-16: two bytes of one letter then
 * look like one letter of another script. Applies if nearly every letter above U+00FF looks like such a pair; in
 * correct text, about a quarter do by chance.
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

/** True if the code consists of the two bytes of a UTF-8 letter. Codes from U+D800 are surrogates. */
function isPair(code: number): boolean {
  return code >= 0xc280 && code <= 0xd7ff && (code & 0xc0) === 0x80;
}

/** True for general punctuation to symbols, such as №. */
function isSign(code: number): boolean {
  return code >= 0x2000 && code <= 0x2bff;
}
