/** Reads JSON Feed 1.0 and 1.1 (https://www.jsonfeed.org/version/1.1/). */
import { parseExactJson } from '../../platform/index.js';
import { wellFormed } from '../text/cut-text.js';
import { readDate } from '../text/dates.js';
import { htmlToText, htmlToTextInSlices } from '../text/html-text.js';
import type { Slices } from '../text/slices.js';
import { JsonTooMuchError, parseJsonInSlices } from '../json/json-in-slices.js';
import {
  absoluteUrl,
  distinct,
  ENCLOSURES_MAX,
  ITEM_TEXT_CHARACTERS_MAX,
  ITEMS_MAX,
  NAMES_LOOKED_AT_MAX,
  NotAFeedError,
  SHORT_TEXT_CHARACTERS_MAX,
  type ReadingContext,
  type SyndicatedFeed,
  type SyndicatedItem,
} from './syndicated-feed.js';

const CONTROL_CHARACTERS = /\p{Cc}/gu;

type SlicedContext = ReadingContext & { readonly slices: Slices };
type Members = Readonly<Record<string, unknown>>;

/** Reads a JSON Feed. Rejects with a NotAFeedError. */
export async function readJsonFeed(text: string, context: SlicedContext): Promise<SyndicatedFeed> {
  const { slices } = context;
  const parsed = await parsedJson(text, slices);
  const feed = membersOf(parsed);
  if (feed === undefined || !Array.isArray(feed['items'])) {
    throw new NotAFeedError('The document is JSON, but it has no array of items, so it is not a JSON Feed.');
  }
  const base = absoluteUrl(stringOf(feed['home_page_url']), context.url) ?? context.url;
  const inherited = authorsOf(feed);
  const items: SyndicatedItem[] = [];
  for (const item of feed['items'].slice(0, ITEMS_MAX)) {
    const members = membersOf(item);
    if (members !== undefined) items.push(await itemOf(members, { ...context, url: base }, inherited));
    if (slices.areOver) await slices.next();
  }
  return {
    format: 'json-feed',
    title: shortText(feed['title']),
    language: stringOf(feed['language']),
    items,
    isWhole: feed['items'].length <= ITEMS_MAX,
  };
}

async function parsedJson(text: string, slices: Slices): Promise<unknown> {
  try {
    try {
      return await parseJsonInSlices(text, slices);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    // Control characters in strings are the only mistake that does not put the rest of the document in doubt.
    const parse = (piece: string) => parseExactJson(piece.replace(CONTROL_CHARACTERS, ' '));
    return await parseJsonInSlices(text, slices, { parse });
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new NotAFeedError('The document begins like JSON and cannot be read as JSON.', { cause: error });
    if (error instanceof JsonTooMuchError)
      throw new NotAFeedError(`The document is JSON, and more than is read: ${error.message}.`, { cause: error });
    throw error;
  }
}

async function itemOf(
  item: Members,
  { url: base, nowMs, slices }: SlicedContext,
  inherited: readonly string[],
): Promise<SyndicatedItem> {
  const html = stringOf(item['content_html']);
  const plain = stringOf(item['content_text']);
  const authors = authorsOf(item);
  return {
    guid: stringOf(item['id']),
    url: absoluteUrl(stringOf(item['url']) ?? stringOf(item['external_url']), base),
    title: shortText(item['title']),
    summary: shortText(item['summary']),
    text:
      html === undefined
        ? plain?.slice(0, ITEM_TEXT_CHARACTERS_MAX)
        : await htmlToTextInSlices(html, ITEM_TEXT_CHARACTERS_MAX, slices),
    authors: authors.length > 0 ? authors : inherited,
    categories: distinct(arrayOf(item['tags'], NAMES_LOOKED_AT_MAX).flatMap((tag) => stringOf(tag) ?? [])),
    published: readDate(stringOf(item['date_published']), nowMs),
    updated: readDate(stringOf(item['date_modified']), nowMs),
    image: absoluteUrl(stringOf(item['image']) ?? stringOf(item['banner_image']), base),
    enclosures: arrayOf(item['attachments'], ENCLOSURES_MAX).flatMap((attachment) => {
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

/** Returns the names of the authors. Version 1.1 has `authors`, version 1.0 has `author`. */
function authorsOf(members: Members): string[] {
  const authors = [...arrayOf(members['authors'], NAMES_LOOKED_AT_MAX), members['author']];
  return distinct(authors.flatMap((author) => stringOf(membersOf(author)?.['name']) ?? []));
}

function shortText(value: unknown): string | undefined {
  const text = stringOf(value);
  return text === undefined ? undefined : htmlToText(text, SHORT_TEXT_CHARACTERS_MAX);
}

/** Accepts numbers too, because ids are often numbers. */
function stringOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? wellFormed(value) : undefined;
}

function membersOf(value: unknown): Members | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : undefined;
}

/** Returns at most this many of the values. */
function arrayOf(value: unknown, most: number): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]).slice(0, most) : [];
}
