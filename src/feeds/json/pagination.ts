/** Five ways in which interfaces divide their records into pages. */
import { SourceFailedError } from '../source/source-run.js';
import { JsonPath, type JsonValue } from './json-path.js';

export type PaginationSettings =
  | { readonly kind: 'none' }
  /**
   * `parameter` is the number of the page, counted from `first`. A page is the last one if it has no records, or fewer
   * than `size` if `size` is given.
   */
  | {
      readonly kind: 'page';
      readonly parameter: string;
      readonly first?: number;
      readonly size_parameter?: string;
      readonly size?: number;
    }
  | { readonly kind: 'offset'; readonly parameter: string; readonly size_parameter?: string; readonly size?: number }
  /**
   * `next` is the path to the cursor in the answer. A page without a cursor, or whose `has_more` is false, is the last
   * one.
   */
  | { readonly kind: 'cursor'; readonly parameter: string; readonly next: string; readonly has_more?: string }
  /**
   * `next` is the path to the address of the next page. If it is not given, the address is taken from the `Link` header
   * (RFC 8288).
   */
  | { readonly kind: 'link'; readonly next?: string };

export interface PageOfRecords {
  readonly url: string;
  readonly json: JsonValue;
  readonly recordCount: number;
  readonly linkHeader: string | undefined;
}

const LINKS_CHARACTERS_MAX = 8192;

/** Returns the address of each page. Every run of a source has its own. */
export class Pagination {
  private number = 0;
  private offset = 0;
  private readonly next: JsonPath | undefined;
  private readonly hasMore: JsonPath | undefined;
  private readonly met = new Set<string>();

  /** Throws a SyntaxError for a path that cannot be read. */
  constructor(
    private readonly settings: PaginationSettings,
    private readonly start: string,
  ) {
    if ('next' in settings && settings.next !== undefined) this.next = new JsonPath(settings.next);
    if ('has_more' in settings && settings.has_more !== undefined) this.hasMore = new JsonPath(settings.has_more);
  }

  firstUrl(): string {
    const { settings } = this;
    if (settings.kind === 'page') return this.counted(settings.parameter, settings.first ?? 1);
    return settings.kind === 'offset' ? this.counted(settings.parameter, 0) : this.start;
  }

  /**
   * Returns the address of the page after this one, or undefined if this was the last. Throws a SourceFailedError if
   * the interface leads back to a page that it has already given.
   */
  urlAfter(page: PageOfRecords): string | undefined {
    const { settings } = this;
    switch (settings.kind) {
      case 'none':
        return undefined;
      case 'page':
        this.number += 1;
        return isLast(page, settings.size)
          ? undefined
          : this.counted(settings.parameter, (settings.first ?? 1) + this.number);
      case 'offset':
        this.offset += page.recordCount;
        return isLast(page, settings.size) ? undefined : this.counted(settings.parameter, this.offset);
      case 'cursor': {
        const cursor = this.next?.scalar(page.json);
        if (cursor === undefined || cursor === '' || cursor === false || this.hasMore?.scalar(page.json) === false)
          return undefined;
        this.meet(String(cursor));
        return this.with(settings.parameter, String(cursor), this.start);
      }
      case 'link': {
        const target = this.next === undefined ? nextLink(page.linkHeader) : this.next.scalar(page.json);
        if (typeof target !== 'string' || target === '') return undefined;
        if (!URL.canParse(target, page.url)) throw new SourceFailedError('The address of the next page is none.');
        const url = new URL(target, page.url).href;
        this.meet(url);
        return url;
      }
    }
  }

  private meet(mark: string): void {
    if (this.met.has(mark))
      throw new SourceFailedError('The interface leads back to a page that it gave before: its pagination has no end.');
    this.met.add(mark);
  }

  private counted(parameter: string, value: number): string {
    const { settings } = this;
    const sized =
      'size_parameter' in settings && settings.size_parameter !== undefined && settings.size !== undefined
        ? this.with(settings.size_parameter, String(settings.size), this.start)
        : this.start;
    return this.with(parameter, String(value), sized);
  }

  private with(parameter: string, value: string, address: string): string {
    const url = new URL(address);
    url.searchParams.set(parameter, value);
    return url.href;
  }
}

function isLast({ recordCount }: PageOfRecords, size: number | undefined): boolean {
  return recordCount === 0 || (size !== undefined && recordCount < size);
}

/** Returns the target of `<https://…>; rel="next"`, which may be one of several links. */
function nextLink(header: string | undefined): string | undefined {
  for (const [, target, parameters = ''] of (header ?? '')
    .slice(0, LINKS_CHARACTERS_MAX)
    .matchAll(/<([^>]*)>((?:\s*;\s*[^,;]*)*)/g)) {
    if (parameters.split(';').some(leadsOn)) return target;
  }
  return undefined;
}

/**
 * Returns true if `next` is among the words of a parameter `rel`. No regular expression is used here, because one could
 * divide the blanks between the words in so many ways that it would never end.
 */
function leadsOn(parameter: string): boolean {
  const equals = parameter.indexOf('=');
  if (equals === -1 || parameter.slice(0, equals).trim().toLowerCase() !== 'rel') return false;
  const value = parameter.slice(equals + 1).trim();
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return (isQuoted ? value.slice(1, -1) : value).toLowerCase().split(/\s+/).includes('next');
}
