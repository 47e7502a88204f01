/** Bytes of the outside world as text: which charset they are in, whatever was said of it. */
import { TextDecoder } from 'node:util';
import chardet from 'chardet';

/** Where a page or a feed says by itself what it is written in. */
const DECLARATION_BYTES_MAX = 2048;
const GUESSED_BYTES_MAX = 65_536;
/** Of fewer bytes beyond ASCII any guess is as good. */
const TELLING_BYTES_MIN = 20;
/** Where what is no text shows itself. */
const JUDGED_CHARACTERS_MAX = 4096;
/** A stray one is a mistake of whoever wrote the text; of compressed or random bytes every tenth is one. */
const CONTROLS_SHARE_MAX = 0.01;
const STRAY_CONTROLS_MAX = 3;
/** All others are binary data: https://mimesniff.spec.whatwg.org/#binary-data-byte. */
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
  /** The name by the WHATWG's Encoding Standard, in lower case. */
  readonly charset: string;
}

/**
 * In this order: a byte order mark; what the bytes are beyond doubt (UTF-8 with characters that nothing else has); what the server says;
 * what the text itself says; a guess. Of what is said twice the first is taken in which all bytes can be read. Never fails: what
 * cannot be read becomes U+FFFD.
 */
export function decodeText(bytes: Uint8Array, contentType = ''): DecodedText {
  const marked = markedCharset(bytes);
  if (marked !== undefined) return { text: new TextDecoder(marked).decode(bytes), charset: marked };
  const head = latin1(bytes.subarray(0, DECLARATION_BYTES_MAX));
  const said = [OF_HEADER.exec(contentType)?.[1], OF_XML.exec(head)?.[1], OF_HTML.exec(head)?.[1]].flatMap((label) => {
    const decoder = label === undefined ? undefined : decoderOf(label);
    // What can be read byte by byte to find its own name is not two bytes a character.
    return decoder === undefined || decoder.encoding.startsWith('utf-16') ? [] : [decoder.encoding];
  });
  // Its characters are those of ASCII, too, so it would pass for UTF-8.
  const isEscaped = said.includes('iso-2022-jp') && bytes.includes(ESCAPE);
  const candidates = isEscaped ? ['iso-2022-jp'] : [...new Set(['utf-8', ...said])];
  for (const charset of candidates) {
    const text = decoded(bytes, charset, true);
    if (text !== undefined) return { text, charset };
  }
  return decodedWithFaults(bytes, said[0]);
}

/** No charset that anybody names fits each byte. */
function decodedWithFaults(bytes: Uint8Array, said: string | undefined): DecodedText {
  if (said !== undefined) {
    const text = decoded(bytes, said, false) ?? '';
    // A few bad bytes are a cut or a mistake; where nothing beyond ASCII can be read, it is not what it is said to be.
    if (said !== 'utf-8' || /(?!\ufffd)\P{ASCII}/u.test(text)) return { text, charset: said };
  }
  const charset = guessed(bytes);
  return { text: decoded(bytes, charset, false) ?? '', charset };
}

/** What was decoded was no text, whatever its charset: a picture or an archive, which a server took for a page. */
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
  // `<` in two bytes: XML without a mark.
  if (first === 0 && second === 0x3c) return 'utf-16be';
  return first === 0x3c && second === 0 ? 'utf-16le' : undefined;
}

function decoderOf(label: string): TextDecoder | undefined {
  try {
    return new TextDecoder(label);
  } catch {
    // A label that nobody knows says nothing.
    return undefined;
  }
}

/** Undefined where `fatal` and there are bytes that are nothing in the charset. */
function decoded(bytes: Uint8Array, charset: string, fatal: boolean): string | undefined {
  try {
    const text = new TextDecoder(charset, { fatal }).decode(bytes);
    return charset === 'windows-1252' ? text.replace(C1_CONTROLS, windows1252Character) : text;
  } catch {
    return undefined;
  }
}

/** Node.js reads windows-1252 as ISO 8859-1, which differs in these: https://encoding.spec.whatwg.org/index-windows-1252.txt. */
function windows1252Character(control: string): string {
  return WINDOWS_1252[control.charCodeAt(0) - 0x80] ?? control;
}

function guessed(bytes: Uint8Array): string {
  const sample = bytes.subarray(0, GUESSED_BYTES_MAX);
  const telling = sample.filter((byte) => byte > 0x7f).length;
  const name = telling < TELLING_BYTES_MIN ? null : chardet.detect(sample);
  const decoder = name === null ? undefined : decoderOf(name);
  // What holds for pages of which nothing is known: the charset of most old ones.
  return decoder === undefined || decoder.encoding === 'utf-8' ? 'windows-1252' : decoder.encoding;
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
