/** Preconditions and ranges of requests for files: RFC 9110, sections 13 and 14. */
import type { RequestHeaders } from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import type { ByteRange, StoredFile } from './media-store.js';

const TAG = /^\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/;
/**
 * Blanks next to each other are matched by one part of the pattern: with two, backtracking could split them in many
 * ways.
 */
const RANGE = /^\s*bytes\s*=\s*(?:(\d{1,15})\s*)?-\s*(?:(\d{1,15})\s*)?$/i;

interface Tag {
  readonly isWeak: boolean;
  readonly text: string;
}

/**
 * Throws `precondition-failed` if the file at the path (undefined if there is none) does not meet the headers'
 * conditions.
 */
export function assertExpected(headers: RequestHeaders, current: StoredFile | undefined): void {
  const expected = tagsOf('If-Match', headers['if-match']);
  if (expected !== undefined && !matches(expected, current, false)) {
    throw failed(current === undefined ? 'there is no such file' : `its ETag is "${current.etag}"`);
  }
  const unexpected = tagsOf('If-None-Match', headers['if-none-match']);
  if (unexpected !== undefined && matches(unexpected, current, true)) throw failed('it is there');
}

/** True if the client has the current file. Throws `precondition-failed` if `If-Match` is not met. */
export function isKnown(headers: RequestHeaders, file: StoredFile): boolean {
  const { 'if-none-match': known, ...others } = headers;
  assertExpected(others, file);
  const tags = tagsOf('If-None-Match', known);
  return tags !== undefined && matches(tags, file, true);
}

/**
 * Returns the requested range. Undefined for the whole file: if there is no range, the unit is unknown, several are
 * requested, or the file has changed. Throws `range-not-satisfiable`.
 */
export function wantedRange(headers: RequestHeaders, { bytes, etag }: StoredFile): ByteRange | undefined {
  const { range, 'if-range': ifRange } = headers;
  if (range === undefined) return undefined;
  // A date is ignored: files can change twice in a second.
  if (ifRange !== undefined && ifRange.trim() !== `"${etag}"`) return undefined;
  const [whole, first = '', last = ''] = RANGE.exec(range) ?? [];
  if (whole === undefined || (first === '' && last === '')) return undefined;
  const begin = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  // A range whose last byte is before its first is invalid and ignored.
  if (first !== '' && last !== '' && Number(last) < begin) return undefined;
  if (begin >= end) {
    throw new ServiceError(
      'range-not-satisfiable',
      `The requested range is outside the file, which has ${bytes} bytes.`,
      {
        headers: { 'Content-Range': `bytes */${bytes}` },
      },
    );
  }
  return { begin, end };
}

/** Parses a list of tags. Undefined if the header is absent. Throws `invalid-parameter` if it is invalid. */
function tagsOf(name: string, text: string | undefined): '*' | readonly Tag[] | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === '*') return '*';
  const tags: Tag[] = [];
  for (let rest = text; rest.trim() !== '';) {
    const found = TAG.exec(rest);
    if (found === null) {
      const detail = `${name} must be a list of ETags in double quotes, or *.`;
      throw new ServiceError('invalid-parameter', detail, { errors: [{ parameter: name, detail }] });
    }
    tags.push({ isWeak: found[1] !== undefined, text: found[2] ?? '' });
    rest = rest.slice(found[0].length);
  }
  return tags;
}

function matches(tags: '*' | readonly Tag[], file: StoredFile | undefined, weakly: boolean): boolean {
  if (file === undefined) return false;
  return tags === '*' || tags.some(({ isWeak, text }) => text === file.etag && (weakly || !isWeak));
}

function failed(why: string): ServiceError {
  return new ServiceError('precondition-failed', `The file is not as the request expects it: ${why}.`);
}
