/**
 * Reads RSS 0.9x, 1.0 (RDF) and 2.0, Atom 0.3 and 1.0, and JSON Feed into one form, and copes with the mistakes that
 * are common in real feeds.
 */
import { readDate } from '../text/dates.js';
import { htmlToText, htmlToTextInSlices } from '../text/html-text.js';
import { Slices } from '../text/slices.js';
import { childOf, childrenOf, markupOf, readXmlTree, textOf, type XmlElement } from '../xml/xml-tree.js';
import { readJsonFeed } from './json-feed.js';
import {
  absoluteUrl,
  distinct,
  ENCLOSURES_MAX,
  ITEM_TEXT_CHARACTERS_MAX,
  ITEMS_MAX,
  NAME_SOURCE_CHARACTERS_MAX,
  NAMES_LOOKED_AT_MAX,
  NotAFeedError,
  SHORT_TEXT_CHARACTERS_MAX,
  type Enclosure,
  type ReadingContext,
  type SyndicatedFeed,
  type SyndicatedItem,
  type SyndicationFormat,
} from './syndicated-feed.js';

const LOOKS_LIKE_A_PAGE = /^<(?:!doctype\s+html|html|head|body)\b/i;
const COMMENTS_MAX = 100;
const COMMENT_CHARACTERS_MAX = 2000;
/** Anything before this was printed by a faulty server. */
const BEGINNING = /<(?:\?xml|rss|feed|rdf:rdf)[\s>]/i;
const ROOTS: Readonly<Record<string, SyndicationFormat>> = {
  rss: 'rss',
  'rdf:rdf': 'rdf',
  feed: 'atom',
  channel: 'rss',
};

/** Reads a feed. Rejects with a NotAFeedError that says what the document is instead. */
export async function readFeed(text: string, given: ReadingContext): Promise<SyndicatedFeed> {
  const { slices = new Slices() } = given;
  const context = { ...given, slices };
  const trimmed = text.trimStart();
  if (trimmed === '') throw new NotAFeedError('The document is empty; a feed was expected.');
  if (trimmed.startsWith('{') || trimmed.startsWith('[')) return readJsonFeed(trimmed, context);
  if (LOOKS_LIKE_A_PAGE.test(behindComments(trimmed)))
    throw new NotAFeedError('The address gives a web page; a feed was expected.');
  const beginning = Math.max(trimmed.search(BEGINNING), 0);
  const { root, isWhole, cutOff } = await readXmlTree(trimmed.slice(beginning), { slices });
  const format = ROOTS[root?.name ?? ''];
  if (root === undefined || format === undefined) {
    throw new NotAFeedError(
      root === undefined
        ? 'The document is neither XML nor JSON; a feed was expected.'
        : `The document is XML of the kind '${root.name.slice(0, 40)}'; a feed was expected.`,
    );
  }
  const channel = root.name === 'channel' ? root : (childOf(root, 'channel') ?? root);
  // RSS 1.0 has its items beside the channel, and so do some feeds that claim to be of another format.
  const elements = [
    ...childrenOf(channel, 'item', 'entry'),
    ...(channel === root ? [] : childrenOf(root, 'item', 'entry')),
    // An item that is cut off by the end of the document would replace the complete one of an earlier run.
  ].filter((element) => !cutOff.has(element));
  const base = baseOf(channel, baseOf(root, context.url));
  const inherited = authorsOf(channel);
  const items: SyndicatedItem[] = [];
  for (const element of elements.slice(0, ITEMS_MAX)) {
    items.push(await itemOf(element, { ...context, url: base }, inherited));
    if (slices.areOver) await slices.next();
  }
  return {
    format,
    title: shortText(childOf(channel, 'title')),
    language: (textOf(childOf(channel, 'language', 'dc:language')).trim() || root.attributes['xml:lang']) ?? undefined,
    items,
    isWhole: isWhole && elements.length <= ITEMS_MAX,
  };
}

/**
 * Returns the text after the comments at its beginning. No regular expression is used, because one would try every
 * possible end of each comment.
 */
function behindComments(text: string): string {
  let rest = text;
  for (let comments = 0; comments < COMMENTS_MAX && rest.startsWith('<!--'); comments += 1) {
    const end = rest.slice(0, COMMENT_CHARACTERS_MAX).indexOf('-->', '<!--'.length);
    if (end === -1) return rest;
    rest = rest.slice(end + '-->'.length).trimStart();
  }
  return rest;
}

async function itemOf(
  element: XmlElement,
  context: ReadingContext & { readonly slices: Slices },
  inherited: readonly string[],
): Promise<SyndicatedItem> {
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
    text: (await longText(content, context.slices)) ?? (await longText(summary, context.slices)),
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

/** Returns the address of the item. In Atom it is the link that leads to the entry itself, in RSS the only link. */
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

/** Returns the guid as an address, unless the feed says that it is none or it does not look like one. */
function permalinkOf(guid: XmlElement | undefined): string | undefined {
  const text = textOf(guid).trim();
  if (guid?.attributes['ispermalink'] === 'false' || !/^https?:\/\//i.test(text)) return undefined;
  return absoluteUrl(text, text);
}

function authorsOf(element: XmlElement): string[] {
  return distinct(
    namedBy(element, 'author', 'dc:creator', 'itunes:author').map((author) => {
      const name = textOf(childOf(author, 'name')) || textOf(author);
      return nameOf(personOf(name) ?? name);
    }),
  );
}

function categoriesOf(element: XmlElement): string[] {
  return distinct(
    namedBy(element, 'category', 'dc:subject').map((category) =>
      nameOf(category.attributes['label'] ?? (textOf(category) || (category.attributes['term'] ?? ''))),
    ),
  );
}

function namedBy(element: XmlElement, ...names: readonly string[]): XmlElement[] {
  return childrenOf(element, ...names).slice(0, NAMES_LOOKED_AT_MAX);
}

function nameOf(source: string): string {
  return htmlToText(source.slice(0, NAME_SOURCE_CHARACTERS_MAX), SHORT_TEXT_CHARACTERS_MAX);
}

/** Returns the name in `someone@example.com (Some One)`. */
function personOf(author: string): string | undefined {
  const [, address = '', name] = /^(\S+)\s+\((.+)\)\s*$/.exec(author.slice(0, NAME_SOURCE_CHARACTERS_MAX)) ?? [];
  return address.slice(1, -1).includes('@') ? name : undefined;
}

function enclosuresOf(element: XmlElement, base: string): Enclosure[] {
  const groups = childrenOf(element, 'media:group');
  const media = [element, ...groups].flatMap((each) => childrenOf(each, 'media:content'));
  const links = childrenOf(element, 'link').filter(({ attributes }) => attributes['rel'] === 'enclosure');
  const all = [...childrenOf(element, 'enclosure'), ...links, ...media];
  const found = all.slice(0, ENCLOSURES_MAX).flatMap(({ attributes }) => {
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

async function longText(element: XmlElement | undefined, slices: Slices): Promise<string | undefined> {
  if (element === undefined) return undefined;
  return (await htmlToTextInSlices(sourceOf(element), ITEM_TEXT_CHARACTERS_MAX, slices)) || undefined;
}

/** Returns the HTML in the element, whether it is escaped or consists of elements. */
function sourceOf(element: XmlElement): string {
  return element.children.some((child) => typeof child !== 'string') ? markupOf(element) : textOf(element);
}
