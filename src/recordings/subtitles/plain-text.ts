/** What a reader sees of the text of a cue, and the text of a file whose charset nobody says. Pure. */
const MARKUP = /<[^<>]*>|\{\\[^{}]*\}/gu;
const ENTITY = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp|lrm|rlm));/giu;
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  lrm: '',
  rlm: '',
};
/** Control characters, halves of characters, and marks of the byte order that stand within a text. */
const UNSEEN = /[\p{Cc}\p{Cs}\uFEFF]+/gu;
const LAST_CODE_POINT = 0x10ffff;
const HEXADECIMAL = 16;

/** One line without markup. */
export function plainText(text: string): string {
  return text
    .replace(MARKUP, '')
    .replace(ENTITY, (whole, decimal?: string, hexadecimal?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      return character(decimal === undefined ? Number.parseInt(hexadecimal ?? '', HEXADECIMAL) : Number(decimal));
    })
    .replace(UNSEEN, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
}

function character(code: number): string {
  return code <= LAST_CODE_POINT ? String.fromCodePoint(code) : '\uFFFD';
}

/** UTF-8 and UTF-16 by their marks, UTF-8 without one, and what is neither as Windows writes western languages. */
export function decodeText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}
