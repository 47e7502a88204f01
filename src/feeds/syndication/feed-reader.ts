/** RSS 0.9x, 1.0 (RDF) and 2.0, Atom 0.3 and 1.0, and JSON Feed, read as one thing, with the mistakes that real ones have. */
import { readDate } from '../text/dates.js';
import { htmlToText } from '../text/html-text.js';
import { childOf, childrenOf, markupOf, readXmlTree, textOf, type XmlElement } from '../xml/xml-tree.js';
import { readJsonFeed } from './json-feed.js';
import {
  absoluteUrl,
  distinct,
  ITEM_TEXT_CHARACTERS_MAX,
  ITEMS_MAX,
  NotAFeedError,
  SHORT_TEXT_CHARACTERS_MAX,
  type Enclosure,
  type ReadingContext,
  type SyndicatedFeed,
  type SyndicatedItem,
  type SyndicationFormat,
} from './syndicated-feed.js';

const LOOKS_LIKE_A_PAGE = /^\s*(?:<!--[\s\S]{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i;
/** What stands before it was printed by a faulty server. */
const BEGINNING = /<(?:\?xml|rss|feed|rdf:rdf)[\s>]/i;
const ROOTS: Readonly<Record<string, SyndicationFormat>> = {
  rss: 'rss',
  'rdf:rdf': 'rdf',
  feed: 'atom',
  channel: 'rss',
};

/** Throws a NotAFeedError that says what the document is instead. */
export function readFeed(text: string, context: ReadingContext): SyndicatedFeed {
  const trimmed = text.trimStart();
  if (trimmed === '') throw new NotAFeedError('The document is empty; a feed was expected.');
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) return readJsonFeed(trimmed, context);
  if (LOOKS_LIKE_A_PAGE.test(trimmed)) throw new NotAFeedError('The address gives a web page; a feed was expected.');
  const { root, isWhole, cutOff } = readXmlTree(trimmed.slice(Math.max(trimmed.search(BEGINNING), 0)));
  const format = ROOTS[root?.name ?? ''];
  if (root === undefined || format === undefined) {
    throw new NotAFeedError(
      root === undefined
        ? 'The document is neither XML nor JSON; a feed was expected.'
        : `The document is XML of the kind '${root.name.slice(0, 40)}'; a feed was expected.`,
    );
  }
  const channel = root.name === 'channel' ? root : (childOf(root, 'channel') ?? root);
  // RSS 1.0 has its items beside the channel, and so have some that say they are something else.
  const elements = [
    ...childrenOf(channel, 'item', 'entry'),
    ...(channel === root ? [] : childrenOf(root, 'item', 'entry')),
    // The one that the document is cut in would take the place of the whole one.
  ].filter((element) => !cutOff.has(element));
  const base = baseOf(channel, baseOf(root, context.url));
  const inherited = authorsOf(channel);
  return {
    format,
    title: shortText(childOf(channel, 'title')),
    language: (textOf(childOf(channel, 'language', 'dc:language')).trim() || root.attributes['xml:lang']) ?? undefined,
    items: elements.slice(0, ITEMS_MAX).map((element) => itemOf(element, { ...context, url: base }, inherited)),
    isWhole: isWhole && elements.length <= ITEMS_MAX,
  };
}

function itemOf(element: XmlElement, context: ReadingContext, inherited: readonly string[]): SyndicatedItem {
  const base = baseOf(element, context.url);
  const date = (...names: string[]) => readDate(textOf(childOf(element, ...names)), context.nowMs);
  const guid = childOf(element, 'guid', 'id');
  const content = childOf(element, 'content:encoded', 'content', 'xhtml:body', 'body');
  const summary = childOf(element, 'summary', 'description', 'itunes:summary', 'media:description', 'dc:description');
  const authors = authorsOf(element);
  const enclosures = enclosuresOf(element, base);
  return {
    guid: textOf(guid).trim() || element.attributes['rdf:about']?.trim() || undefined,
    url: linkOf(element, base) ?? permalinkOf(guid),
    title: shortText(childOf(element, 'title', 'media:title', 'dc:title')),
    summary: shortText(summary),
    text: longText(content) ?? longText(summary),
    authors: authors.length > 0 ? authors : inherited,
    categories: categoriesOf(element),
    published: date('pubdate', 'published', 'issued', 'created', 'dc:date', 'dcterms:created'),
    updated: date('updated', 'modified', 'dcterms:modified'),
    image: imageOf(element, base, enclosures),
    enclosures,
  };
}

function baseOf({ attributes }: XmlElement, outer: string): string {
  return absoluteUrl(attributes['xml:base'], outer) ?? outer;
}

/** Of Atom the link that is the entry itself; of RSS the only one. */
function linkOf(element: XmlElement, base: string): string | undefined {
  const links = childrenOf(element, 'link', 'atom:link');
  const relation = (link: XmlElement) => (link.attributes['rel'] ?? 'alternate').toLowerCase();
  const alternates = links.filter((link) => relation(link) === 'alternate');
  const isHtml = (link: XmlElement) => /html|^$/.test(link.attributes['type'] ?? '');
  for (const link of [...alternates.filter(isHtml), ...alternates]) {
    const url = absoluteUrl(link.attributes['href'] ?? textOf(link), base);
    if (url !== undefined) return url;
  }
  return undefined;
}

/** A guid is an address unless it says that it is none, or is none. */
function permalinkOf(guid: XmlElement | undefined): string | undefined {
  const text = textOf(guid).trim();
  if (guid?.attributes['ispermalink'] === 'false' || !/^https?:\/\//i.test(text)) return undefined;
  return absoluteUrl(text, text);
}

function authorsOf(element: XmlElement): string[] {
  return distinct(
    childrenOf(element, 'author', 'dc:creator', 'itunes:author').map((author) => {
      const name = textOf(childOf(author, 'name')) || textOf(author);
      // `someone@example.com (Some One)`
      return htmlToText(/^\S+@\S+\s+\((.+)\)\s*$/.exec(name)?.[1] ?? name, SHORT_TEXT_CHARACTERS_MAX);
    }),
  );
}

function categoriesOf(element: XmlElement): string[] {
  return distinct(
    childrenOf(element, 'category', 'dc:subject').map((category) =>
      htmlToText(
        category.attributes['label'] ?? (textOf(category) || (category.attributes['term'] ?? '')),
        SHORT_TEXT_CHARACTERS_MAX,
      ),
    ),
  );
}

function enclosuresOf(element: XmlElement, base: string): Enclosure[] {
  const groups = childrenOf(element, 'media:group');
  const media = [element, ...groups].flatMap((each) => childrenOf(each, 'media:content'));
  const links = childrenOf(element, 'link').filter(({ attributes }) => attributes['rel'] === 'enclosure');
  const found = [...childrenOf(element, 'enclosure'), ...links, ...media].flatMap(({ attributes }) => {
    const url = absoluteUrl(attributes['url'] ?? attributes['href'], base);
    const bytes = Number(attributes['length'] ?? attributes['filesize'] ?? NaN);
    return url === undefined
      ? []
      : [{ url, type: attributes['type'] || undefined, bytes: bytes >= 0 ? bytes : undefined }];
  });
  return [...new Map(found.map((each) => [each.url, each])).values()];
}

function imageOf(element: XmlElement, base: string, enclosures: readonly Enclosure[]): string | undefined {
  const groups = [element, ...childrenOf(element, 'media:group')];
  const thumbnail = groups.map((each) => childOf(each, 'media:thumbnail')).find((each) => each !== undefined);
  const named = [
    thumbnail?.attributes['url'],
    childOf(element, 'itunes:image')?.attributes['href'],
    textOf(childOf(element, 'image', 'logo')),
  ];
  const urls = named.map((url) => absoluteUrl(url, base));
  return (
    urls.find((url) => url !== undefined) ?? enclosures.find(({ type }) => type?.startsWith('image') === true)?.url
  );
}

function shortText(element: XmlElement | undefined): string | undefined {
  return element === undefined ? undefined : htmlToText(sourceOf(element), SHORT_TEXT_CHARACTERS_MAX) || undefined;
}

function longText(element: XmlElement | undefined): string | undefined {
  return element === undefined ? undefined : htmlToText(sourceOf(element), ITEM_TEXT_CHARACTERS_MAX) || undefined;
}

/** HTML, whether it was escaped or stands among the elements. */
function sourceOf(element: XmlElement): string {
  return element.children.some((child) => typeof child !== 'string') ? markupOf(element) : textOf(element);
}
