/** Decodes bytes from outside as text, and finds out which charset they are in, whatever is said about it. */
import { TextDecoder } from 'node:util';
import chardet from 'chardet';

/** Size of the part in which a page or a feed declares its own charset. */
const DECLARATION_BYTES_MAX = 2048;
const GUESSED_BYTES_MAX = 65_536;
/** With fewer bytes that are not ASCII, one guess is as good as another. */
const TELLING_BYTES_MIN = 20;
/** Length of the part by which binary data are recognized. */
const JUDGED_CHARACTERS_MAX = 4096;
/**
 * A few stray control characters are a mistake of the author. In compressed or random bytes, every tenth character is
 * one.
 */
const CONTROLS_SHARE_MAX = 0.01;
const STRAY_CONTROLS_MAX = 3;
/**
 * Control characters that texts may contain. All others mean binary data:
 * https://mimesniff.spec.whatwg.org/#binary-data-byte.
 */
const CONTROLS_OF_TEXTS = '\t\n\f\r\x1b';
const ESCAPE = 0x1b;
const C1_CONTROLS = /[\x80-\x9f]/g;
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';
const CHARACTERS_OF_LABEL = '[\\w.:-]{1,40}';
const OF_HEADER = new RegExp(`charset\\s*=\\s*["']?(${CHARACTERS_OF_LABEL})`, 'i');
const OF_XML = new RegExp(`^\\s*<\\?xml[^>]{0,200}?encoding\\s*=\\s*["'](${CHARACTERS_OF_LABEL})["']`, 'i');
const OF_HTML = new RegExp(`<meta[^>]{0,300}?charset\\s*=\\s*["']?\\s*(${CHARACTERS_OF_LABEL})`, 'i');

export interface DecodedText {
  readonly text: string;
  /** Name in the Encoding Standard of the WHATWG, in lower case. */
  readonly charset: string;
}

/**
 * Decodes a text. The charset is determined by the first of these: a byte order mark; the bytes themselves, if they are
 * valid UTF-8 and nothing else; what the server says; what the text itself says; a guess. If several charsets are
 * named, the first one in which all bytes are valid is used. Never fails: bytes that cannot be decoded become U+FFFD.
 */
export function decodeText(bytes: Uint8Array, contentType = ''): DecodedText {
  const marked = markedCharset(bytes);
  if (marked !== undefined) return { text: new TextDecoder(marked).decode(bytes), charset: marked };
  const head = latin1(bytes.subarray(0, DECLARATION_BYTES_MAX));
  const said = [OF_HEADER.exec(contentType)?.[1], OF_XML.exec(head)?.[1], OF_HTML.exec(head)?.[1]].flatMap((label) => {
    const decoder = label === undefined ? undefined : decoderOf(label);
    // The declaration was found by reading single bytes, so the text cannot have two bytes per character.
    return decoder === undefined || decoder.encoding.startsWith('utf-16') ? [] : [decoder.encoding];
  });
  // The bytes of this charset are all ASCII, so that it would be taken for UTF-8.
  const isEscaped = said.includes('iso-2022-jp') && bytes.includes(ESCAPE);
  const candidates = isEscaped ? ['iso-2022-jp'] : [...new Set(['utf-8', ...said])];
  for (const charset of candidates) {
    const text = decoded(bytes, charset, true);
    if (text !== undefined) return { text, charset };
  }
  return decodedWithFaults(bytes, said[0]);
}

/** Decodes a text that is not completely valid in any of the named charsets. */
function decodedWithFaults(bytes: Uint8Array, said: string | undefined): DecodedText {
  if (said !== undefined) {
    const text = decoded(bytes, said, false) ?? '';
    // A few invalid bytes come from a cut or a mistake. But if nothing except ASCII can be decoded, the text is not in
    // that charset.
    if (said !== 'utf-8' || /(?!\ufffd)\P{ASCII}/u.test(text)) return { text, charset: said };
  }
  const charset = guessed(bytes);
  return { text: decoded(bytes, charset, false) ?? '', charset };
}

/**
 * Returns true if the bytes were not text in any charset, but for example an image or an archive that a server sent as
 * a page.
 */
export function looksBinary({ text }: DecodedText): boolean {
  const judged = text.slice(0, JUDGED_CHARACTERS_MAX);
  let controls = 0;
  for (const character of judged) if (character < ' ' && !CONTROLS_OF_TEXTS.includes(character)) controls += 1;
  return controls > Math.max(STRAY_CONTROLS_MAX, judged.length * CONTROLS_SHARE_MAX);
}

export function decodeUtf8(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function markedCharset(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes;
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  // `<` in two bytes: XML without a byte order mark.
  if (first === 0 && second === 0x3c) return 'utf-16be';
  return first === 0x3c && second === 0 ? 'utf-16le' : undefined;
}

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    // An unknown label gives no information.
    return undefined;
  }
}

/** Returns undefined if `fatal` is true and some bytes are not valid in the charset. */
function decoded(bytes: Uint8Array, charset: string, fatal: boolean): string | undefined {
  try {
    const text = new TextDecoder(charset, { fatal }).decode(bytes);
    return charset === 'windows-1252' ? text.replace(C1_CONTROLS, windows1252Character) : text;
  } catch {
    return undefined;
  }
}

/**
 * Node.js decodes windows-1252 as ISO 8859-1, which differs in these characters:
 * https://encoding.spec.whatwg.org/index-windows-1252.txt.
 */
function windows1252Character(control: string): string {
  return WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control;
}

function guessed(bytes: Uint8Array): string {
  const sample = bytes.subarray(0, GUESSED_BYTES_MAX);
  const telling = sample.filter((byte) => byte > 0x7f).length;
  const name = telling < TELLING_BYTES_MIN ? null : chardet.detect(sample);
  const decoder = name === null ? undefined : decoderOf(name);
  // If nothing is known of a page, this is the charset of most old pages.
  return decoder === undefined || decoder.encoding === 'utf-8' ? 'windows-1252' : decoder.encoding;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
