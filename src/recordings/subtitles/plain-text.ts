/** Converts the text of a cue into what a reader sees, and decodes text of unknown charset. Pure functions. */
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
/** Control characters, unpaired surrogates and byte order marks within a text. */
const UNSEEN = /[\p{Cc}\p{Cs}\uFEFF]+/gu;
const LAST_CODE_POINT = 0x10ffff;
const HEXADECIMAL = 16;

/** Returns one line without markup. */
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

/** Decodes UTF-8 or UTF-16 by their byte order marks, UTF-8 without one, and anything else as Windows-1252. */
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
