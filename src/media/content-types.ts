/** Content types of files, and the headers that keep browsers from running a file in the service's origin. */
import { ServiceError } from '../platform/index.js';

const CONTENT_TYPE_CHARACTERS_MAX = 255;
const UNKNOWN_TYPE = 'application/octet-stream';
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const CONTENT_TYPE = new RegExp(
  `^${TOKEN}/${TOKEN}(?:\\s*;\\s*${TOKEN}=(?:${TOKEN}|"[\\x20\\x21\\x23-\\x5b\\x5d-\\x7e]*"))*$`,
);

/** A form, with a file among other fields. */
const FORM = /^multipart\/form-data\s*(?:;|$)/i;
/** What curl and Python's urllib send with any bytes unless told otherwise; nobody means it of a file. */
const BY_DEFAULT = /^application\/x-www-form-urlencoded\s*(?:;|$)/i;

/** By extension of the file's name. */
const TYPES: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  css: 'text/css',
  csv: 'text/csv',
  gif: 'image/gif',
  htm: 'text/html',
  html: 'text/html',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  js: 'text/javascript',
  json: 'application/json',
  m4a: 'audio/mp4',
  md: 'text/markdown',
  mjs: 'text/javascript',
  mkv: 'video/x-matroska',
  mov: 'video/quicktime',
  mp3: 'audio/mpeg',
  mp4: 'video/mp4',
  ndjson: 'application/x-ndjson',
  oga: 'audio/ogg',
  ogg: 'audio/ogg',
  ogv: 'video/ogg',
  pdf: 'application/pdf',
  png: 'image/png',
  srt: 'application/x-subrip',
  svg: 'image/svg+xml',
  sync: 'application/x-ndjson',
  txt: 'text/plain',
  vtt: 'text/vtt',
  wav: 'audio/wav',
  webm: 'video/webm',
  webp: 'image/webp',
  xml: 'application/xml',
  zip: 'application/zip',
};

/** Types that a browser may show; all others are offered as downloads. */
const SHOWN: ReadonlySet<string> = new Set([
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
  'image/avif',
  'image/gif',
  'image/jpeg',
  'image/png',
  'image/webp',
  'text/plain',
  'video/mp4',
  'video/ogg',
  'video/webm',
]);

/**
 * Returns the given type, or the one that the name suggests if none was given. Throws `unsupported-media-type`, also for
 * a form, which would be stored with what encloses the file.
 */
export function contentTypeOf(given: string, path: string): string {
  if (given === '' || BY_DEFAULT.test(given)) return contentTypeOfName(path);
  if (FORM.test(given)) {
    throw new ServiceError(
      'unsupported-media-type',
      'The body has to be the bytes of the file, not a form (multipart/form-data). Send them with the content type of the file, or without one, as "curl -T FILE" does.',
    );
  }
  if (given.length <= CONTENT_TYPE_CHARACTERS_MAX && CONTENT_TYPE.test(given)) return given;
  throw new ServiceError(
    'unsupported-media-type',
    `The content type must be a type and a subtype, such as application/pdf, of at most ${CONTENT_TYPE_CHARACTERS_MAX} characters.`,
  );
}

export function contentTypeOfName(path: string): string {
  const dot = path.lastIndexOf('.');
  const extension = path.slice(dot + 1).toLowerCase();
  return dot !== -1 && Object.hasOwn(TYPES, extension) ? (TYPES[extension] ?? UNKNOWN_TYPE) : UNKNOWN_TYPE;
}

/**
 * Returns the headers of every answer with a file. They prevent type sniffing, scripts, framing, and use as part of the
 * service's pages.
 */
export function safetyHeaders(path: string, contentType: string): Record<string, string> {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  return {
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "default-src 'none'; sandbox",
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Content-Disposition': `${SHOWN.has(type) ? 'inline' : 'attachment'}; ${fileName(path)}`,
  };
}

/** Marks that change the direction of text: `\u202Egpj.exe` would look like `exe.jpg` in a download dialog. */
const ORDER_MARKS = /[\u200E\u200F\u061C\u202A-\u202E\u2066-\u2069]/g;

/** Encodes the file name by RFC 6266: in ASCII, plus the exact name if that differs. */
function fileName(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1).replace(ORDER_MARKS, '_');
  const plain = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  if (plain === name) return `filename="${name}"`;
  const encoded = encodeURIComponent(name).replace(
    /['()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return `filename="${plain}"; filename*=UTF-8''${encoded}`;
}
