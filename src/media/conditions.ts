/** What a request expects of a file, and which part of it is wanted: RFC 9110, sections 13 and 14. */
import type { RequestHeaders } from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import type { ByteRange, StoredFile } from './media-store.js';

const TAG = /^\s*(W\/)?"([\x21\x23-\x7e\x80-\xff]*)"\s*(?:,|$)/;
/** Blanks that stand beside each other are one: in two parts of a pattern they could be divided in as many ways as there are. */
const RANGE = /^\s*bytes\s*=\s*(?:(\d{1,15})\s*)?-\s*(?:(\d{1,15})\s*)?$/i;

interface Tag {
  readonly isWeak: boolean;
  readonly text: string;
}

/** Throws `precondition-failed` where the file at the path (undefined: none) is not as the headers say. */
export function assertExpected(headers: RequestHeaders, current: StoredFile | undefined): void {
  const expected = tagsOf('If-Match', headers['if-match']);
  if (expected !== undefined && !matches(expected, current, false)) {
    throw failed(current === undefined ? 'there is no such file' : `its ETag is "${current.etag}"`);
  }
  const unexpected = tagsOf('If-None-Match', headers['if-none-match']);
  if (unexpected !== undefined && matches(unexpected, current, true)) throw failed('it is there');
}

/** Whether whoever asks has the file as it is. Throws `precondition-failed` where it is not as `If-Match` says. */
export function isKnown(headers: RequestHeaders, file: StoredFile): boolean {
  const { 'if-none-match': known, ...others } = headers;
  assertExpected(others, file);
  const tags = tagsOf('If-None-Match', known);
  return tags !== undefined && matches(tags, file, true);
}

/**
 * The part that is wanted; undefined for all: no range, one of another unit, several, or one of a file that has changed. Throws
 * `range-not-satisfiable`.
 */
export function wantedRange(headers: RequestHeaders, { bytes, etag }: StoredFile): ByteRange | undefined {
  const { range, 'if-range': ifRange } = headers;
  if (range === undefined) return undefined;
  // A date is as good as no tag: files can change twice in a second.
  if (ifRange !== undefined && ifRange.trim() !== `"${etag}"`) return undefined;
  const [whole, first = '', last = ''] = RANGE.exec(range) ?? [];
  if (whole === undefined || (first === '' && last === '')) return undefined;
  const begin = first === '' ? Math.max(0, bytes - Number(last)) : Number(first);
  const end = first === '' || last === '' ? bytes : Math.min(bytes, Number(last) + 1);
  // A last byte before the first is no range at all.
  if (first !== '' && last !== '' && Number(last) < begin) return undefined;
  if (begin >= end) {
    throw new ServiceError('range-not-satisfiable', `The file has ${bytes} bytes.`, {
      headers: { 'Content-Range': `bytes */${bytes}` },
    });
  }
  return { begin, end };
}

/** Undefined: the header is not there. Throws `invalid-parameter` for one that is no list of tags. */
function tagsOf(name: string, text: string | undefined): '*' | readonly Tag[] | undefined {
  if (text === undefined) return undefined;
  if (text.trim() === '*') return '*';
  const tags: Tag[] = [];
  for (let rest = text; rest.trim() !== '';) {
    const found = TAG.exec(rest);
    if (found === null) {
      const detail = `${name} is a list of ETags in double quotes, or *.`;
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
