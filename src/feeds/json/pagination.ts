/** Five ways in which interfaces give out what they have in pages. */
import { SourceFailedError } from '../source/source-run.js';
import { JsonPath, type JsonValue } from './json-path.js';

export type PaginationSettings =
  | { readonly kind: 'none' }
  /** `parameter` counts pages from `first`; a page without records, or with fewer than `size` where it is given, is the last. */
  | {
      readonly kind: 'page';
      readonly parameter: string;
      readonly first?: number;
      readonly size_parameter?: string;
      readonly size?: number;
    }
  | { readonly kind: 'offset'; readonly parameter: string; readonly size_parameter?: string; readonly size?: number }
  /** `next` leads to the cursor in the answer; without one, or with a false `has_more`, the page is the last. */
  | { readonly kind: 'cursor'; readonly parameter: string; readonly next: string; readonly has_more?: string }
  /** `next` leads to the address of the next page; without it the `Link` header has it (RFC 8288). */
  | { readonly kind: 'link'; readonly next?: string };

export interface PageOfRecords {
  readonly url: string;
  readonly json: JsonValue;
  readonly recordCount: number;
  readonly linkHeader: string | undefined;
}

const LINKS_CHARACTERS_MAX = 8192;

/** Gives the address of each page. One source's run has one. */
export class Pagination {
  private number = 0;
  private offset = 0;
  private readonly next: JsonPath | undefined;
  private readonly hasMore: JsonPath | undefined;
  private readonly met = new Set<string>();

  /** Throws a SyntaxError for a path that is none. */
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

  /** Undefined: this was the last. Throws a SourceFailedError where the interface leads back to what it gave before. */
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

/** `<https://…>; rel="next"` among others. */
function nextLink(header: string | undefined): string | undefined {
  for (const [, target, parameters = ''] of (header ?? '')
    .slice(0, LINKS_CHARACTERS_MAX)
    .matchAll(/<([^>]*)>((?:\s*;\s*[^,;]*)*)/g)) {
    if (parameters.split(';').some(leadsOn)) return target;
  }
  return undefined;
}

/** Whether `next` is among the words of a parameter `rel`. Taken apart: a pattern has more ways to divide the blanks between words than anybody can wait for. */
function leadsOn(parameter: string): boolean {
  const equals = parameter.indexOf('=');
  if (equals === -1 || parameter.slice(0, equals).trim().toLowerCase() !== 'rel') return false;
  const value = parameter.slice(equals + 1).trim();
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"');
  return (isQuoted ? value.slice(1, -1) : value).toLowerCase().split(/\s+/).includes('next');
}
