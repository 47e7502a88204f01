/** JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/). */
import { parseExactJson } from '../../platform/index.js';
import { wellFormed } from '../text/cut-text.js';
import { readDate } from '../text/dates.js';
import { htmlToText } from '../text/html-text.js';
import {
  absoluteUrl,
  distinct,
  ITEM_TEXT_CHARACTERS_MAX,
  ITEMS_MAX,
  NotAFeedError,
  SHORT_TEXT_CHARACTERS_MAX,
  type ReadingContext,
  type SyndicatedFeed,
  type SyndicatedItem,
} from './syndicated-feed.js';

const CONTROL_CHARACTERS = /\p{Cc}/gu;

type Members = Readonly<Record<string, unknown>>;

/** Throws a NotAFeedError. */
export function readJsonFeed(text: string, context: ReadingContext): SyndicatedFeed {
  const parsed = parsedJson(text);
  const feed = membersOf(parsed);
  if (feed === undefined || !Array.isArray(feed['items'])) {
    throw new NotAFeedError('The document is JSON, but it has no array of items, so it is not a JSON Feed.');
  }
  const base = absoluteUrl(stringOf(feed['home_page_url']), context.url) ?? context.url;
  const inherited = authorsOf(feed);
  const items = feed['items'].slice(0, ITEMS_MAX).flatMap((item: unknown) => {
    const members = membersOf(item);
    return members === undefined ? [] : [itemOf(members, { ...context, url: base }, inherited)];
  });
  return {
    format: 'json-feed',
    title: shortText(feed['title']),
    language: stringOf(feed['language']),
    items,
    isWhole: feed['items'].length <= ITEMS_MAX,
  };
}

function parsedJson(text: string): unknown {
  try {
    return parseExactJson(text);
  } catch {
    // Control characters within strings are the one mistake that says nothing of the rest.
  }
  try {
    return parseExactJson(text.replace(CONTROL_CHARACTERS, ' '));
  } catch {
    throw new NotAFeedError('The document begins like JSON and cannot be read as JSON.');
  }
}

function itemOf(item: Members, { url: base, nowMs }: ReadingContext, inherited: readonly string[]): SyndicatedItem {
  const html = stringOf(item['content_html']);
  const plain = stringOf(item['content_text']);
  const authors = authorsOf(item);
  return {
    guid: stringOf(item['id']),
    url: absoluteUrl(stringOf(item['url']) ?? stringOf(item['external_url']), base),
    title: shortText(item['title']),
    summary: shortText(item['summary']),
    text: html === undefined ? plain?.slice(0, ITEM_TEXT_CHARACTERS_MAX) : htmlToText(html, ITEM_TEXT_CHARACTERS_MAX),
    authors: authors.length > 0 ? authors : inherited,
    categories: distinct(arrayOf(item['tags']).flatMap((tag) => stringOf(tag) ?? [])),
    published: readDate(stringOf(item['date_published']), nowMs),
    updated: readDate(stringOf(item['date_modified']), nowMs),
    image: absoluteUrl(stringOf(item['image']) ?? stringOf(item['banner_image']), base),
    enclosures: arrayOf(item['attachments']).flatMap((attachment) => {
      const members = membersOf(attachment);
      const url = absoluteUrl(stringOf(members?.['url']), base);
      const bytes = members?.['size_in_bytes'];
      if (url === undefined) return [];
      return [
        {
          url,
          type: stringOf(members?.['mime_type']),
          bytes: typeof bytes === 'number' && bytes >= 0 ? bytes : undefined,
        },
      ];
    }),
  };
}

/** `authors` of version 1.1, `author` of 1.0. */
function authorsOf(members: Members): string[] {
  const authors = [...arrayOf(members['authors']), members['author']];
  return distinct(authors.flatMap((author) => stringOf(membersOf(author)?.['name']) ?? []));
}

function shortText(value: unknown): string | undefined {
  const text = stringOf(value);
  return text === undefined ? undefined : htmlToText(text, SHORT_TEXT_CHARACTERS_MAX);
}

/** Numbers, too: ids that are numbers are common. */
function stringOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? wellFormed(value) : undefined;
}

function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}
