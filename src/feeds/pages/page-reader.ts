/**
 * Reads a page of a website: the fields of its records, the links to follow, and what it says about being indexed and
 * followed.
 */
import { createHash } from 'node:crypto';
import { selectAll, selectOne } from 'css-select';
import type { AnyNode, Document, Element, ParentNode } from 'domhandler';
import { absoluteUrl, distinct } from '../syndication/syndicated-feed.js';
import { cutText } from '../text/cut-text.js';
import { readDate } from '../text/dates.js';
import { isHidden } from '../text/html-text.js';
import { Slices } from '../text/slices.js';
import { mainContent, sectionsOf, textWithin, type ContentSection } from './main-content.js';
import { metadataOf, textsOf, typesOf, type PageMetadata } from './page-metadata.js';
import { attribute, readPageTree, walk } from './page-tree.js';

const TITLE_CHARACTERS_MAX = 500;
const DESCRIPTION_CHARACTERS_MAX = 2000;
const TEXT_CHARACTERS_MAX = 500_000;
const HEADINGS_MAX = 200;
const KEYWORDS_CHARACTERS_MAX = 10_000;
const LINKS_MAX = 5000;
/** A page with scripts and less text than this is filled in by the scripts. */
const TEXT_OF_SHELL_CHARACTERS_MAX = 200;
const MISSING_TEXT_CHARACTERS_MAX = 1500;
const MISSING =
  /\b404\b|not[ -]found|(?:page|seite|página|pagina) (?:does(?:n't| not) exist|missing|unavailable)|nicht gefunden|existiert nicht|introuvable|no (?:se )?encontr|non trovata|niet gevonden|no longer (?:available|exists)/i;
const REFUSED =
  /^(?:40[13]|429|50[0-4])\b|^(?:error|fehler|erreur|oops|forbidden)\b|\b(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests|access denied|under maintenance|maintenance mode|(?:down for|scheduled) maintenance|temporarily (?:unavailable|down)|something went wrong|an error (?:has )?occurred|error establishing|wartungsarbeiten|just a moment|attention required|you are (?:a )?human|checking your browser)\b/i;
const SIGN_IN =
  /\b(?:sign|log)[ -]?(?:in|on)\b|\b(?:anmelden|anmeldung|einloggen|connexion|iniciar sesi[oó]n|accedi|inloggen)\b/i;

export type FieldValue = string | readonly string[];
type FieldValues = Readonly<Record<string, FieldValue | undefined>>;

export interface PageSelectors {
  readonly title?: string;
  readonly text?: string;
  readonly remove?: string;
  /** CSS selectors of further fields, by field name. */
  readonly fields?: Readonly<Record<string, string>>;
}

export interface PageLink {
  /** Absolute address, as it is on the page. */
  readonly url: string;
  readonly isNofollow: boolean;
}

export interface PageReading {
  readonly title: string;
  readonly description: string | undefined;
  readonly headings: readonly string[];
  readonly text: string;
  readonly sections: readonly ContentSection[];
  /** Primary language tag (BCP 47). */
  readonly language: string | undefined;
  readonly image: string | undefined;
  readonly published: string | undefined;
  readonly modified: string | undefined;
  readonly section: string | undefined;
  /** Further fields from JSON-LD, OpenGraph, `meta` and selectors. */
  readonly more: Readonly<Record<string, FieldValue>>;
  readonly links: readonly PageLink[];
  /** Absolute address. Undefined if the page has none, or several that differ. */
  readonly canonical: string | undefined;
  readonly isNoindex: boolean;
  readonly isNofollow: boolean;
  readonly needsJavaScript: boolean;
  /** True if the page says that there is no such page, whatever its status is. */
  readonly looksMissing: boolean;
  /** True if the page reports a failure or asks for a sign-in instead of showing its content. */
  readonly looksRefused: boolean;
  /** Hash of what a reader sees. Pages with the same hash are duplicates. */
  readonly contentHash: string;
  /** False if the page is too deep or too large, or has more links than are taken. */
  readonly isWhole: boolean;
  /** True if the end of the page is missing. */
  readonly breaksOff: boolean;
}

export interface PageContext {
  readonly url: string;
  readonly nowMs: number;
  readonly selectors?: PageSelectors;
  /** Value of the header `X-Robots-Tag`. */
  readonly robotsTag?: string;
  /** By default, the page is read in slices of its own. */
  readonly slices?: Slices;
}

/** Reads a page. Never fails because of the page's content. Rejects if a selector cannot be read. */
export async function readPage(html: string, context: PageContext): Promise<PageReading> {
  const { selectors = {}, nowMs, slices = new Slices() } = context;
  const { document, isWhole, breaksOff } = await readPageTree(html, slices);
  await slices.pause();
  const metadata = metadataOf(document);
  await slices.pause();
  const head = readHead(document, context.url);
  const body = firstNamed(document, 'body') ?? document;
  const removed = new Set(selectors.remove === undefined ? [] : elementsBy(selectors.remove, body));
  const chosen = selectors.text === undefined ? undefined : elementBy(selectors.text, body);
  await slices.pause();
  const content = mainContent(chosen ?? body, removed);
  await slices.pause();
  const sections = sectionsOf(chosen === undefined ? content : { ...content, element: chosen });
  await slices.pause();
  const text = textOfSections(sections);
  const first = firstHeading(document);
  const says = (what: RegExp) => what.test(head.title) || what.test(first);
  const titled = selected(document, selectors.title) ?? titleOf(head.title, first, metadata);
  const title = cutText(titled, TITLE_CHARACTERS_MAX);
  const description = firstOf(metadata, ['description', 'og:description', 'twitter:description'], ['description']);
  const robots = `${metadata.meta.get('robots') ?? ''},${context.robotsTag ?? ''}`.toLowerCase();
  return {
    title,
    description: description === undefined ? undefined : cutText(description, DESCRIPTION_CHARACTERS_MAX),
    headings: sections.flatMap(({ heading }) => heading?.text ?? []).slice(0, HEADINGS_MAX),
    text,
    sections,
    language: languageOf(head.language || metadata.meta.get('content-language') || metadata.meta.get('og:locale')),
    image: absoluteUrl(
      firstOf(metadata, ['og:image', 'og:image:url', 'twitter:image'], ['image', 'thumbnailUrl']),
      head.base,
    ),
    published: readDate(
      firstOf(
        metadata,
        ['article:published_time', 'datepublished', 'date', 'dc.date', 'dcterms.created'],
        ['datePublished', 'uploadDate'],
      ) ?? head.published,
      nowMs,
    ),
    modified: readDate(
      firstOf(
        metadata,
        ['article:modified_time', 'og:updated_time', 'datemodified', 'last-modified', 'dcterms.modified'],
        ['dateModified'],
      ),
      nowMs,
    ),
    section: firstOf(metadata, ['article:section'], ['articleSection']),
    more: moreOf(document, metadata, selectors),
    links: head.links,
    canonical: head.canonicals.size === 1 ? [...head.canonicals][0] : undefined,
    isNoindex: /\b(?:noindex|none)\b/.test(robots),
    isNofollow: /\b(?:nofollow|none)\b/.test(robots),
    needsJavaScript: head.scripts > 0 && text.length < TEXT_OF_SHELL_CHARACTERS_MAX && (head.isShell || text === ''),
    looksMissing: text.length < MISSING_TEXT_CHARACTERS_MAX && says(MISSING),
    looksRefused: text.length < MISSING_TEXT_CHARACTERS_MAX && (says(REFUSED) || (head.hasPassword && says(SIGN_IN))),
    contentHash: createHash('sha256').update(`${title}\n${text}`).digest('base64url').slice(0, 22),
    isWhole: isWhole && !head.hasMoreLinks,
    breaksOff,
  };
}

function textOfSections(sections: readonly ContentSection[]): string {
  const pieces = sections.map(({ heading, text }) => (heading === undefined ? text : `${heading.text}\n${text}`));
  return cutText(pieces.join('\n').trim(), TEXT_CHARACTERS_MAX);
}

function elementsBy(selector: string, root: ParentNode): Element[] {
  return selectAll<AnyNode, Element>(selector, root);
}

function elementBy(selector: string, root: ParentNode): Element | undefined {
  return selectOne<AnyNode, Element>(selector, root) ?? undefined;
}

interface PageHead {
  title: string;
  language: string;
  base: string;
  published: string | undefined;
  scripts: number;
  hasPassword: boolean;
  /** True if the page has the element that frameworks fill, or says that it needs scripts. */
  isShell: boolean;
  readonly canonicals: Set<string>;
  readonly links: PageLink[];
  hasMoreLinks: boolean;
}

/** Collects what can be found in one walk over the whole page. */
function readHead(document: Document, url: string): PageHead {
  const head: PageHead = {
    title: '',
    language: '',
    base: url,
    published: undefined,
    scripts: 0,
    hasPassword: false,
    isShell: false,
    canonicals: new Set(),
    links: [],
    hasMoreLinks: false,
  };
  walk(document, (element) => {
    switch (element.name) {
      case 'html':
        head.language ||= attribute(element, 'lang') || attribute(element, 'xml:lang');
        break;
      case 'title':
        // The title of an image in the page is not the title of the page.
        if (head.title === '') head.title = textWithin(element).replaceAll('\n', ' ');
        break;
      case 'base':
        head.base = absoluteUrl(attribute(element, 'href'), url) ?? head.base;
        break;
      case 'link': {
        const canonical = /(?:^|\s)canonical(?:\s|$)/i.test(attribute(element, 'rel'))
          ? absoluteUrl(attribute(element, 'href'), head.base)
          : undefined;
        if (canonical !== undefined) head.canonicals.add(canonical);
        break;
      }
      case 'script':
        head.scripts += 1;
        break;
      case 'noscript':
        head.isShell ||= /javascript/i.test(textWithin(element));
        break;
      case 'input':
        head.hasPassword ||= attribute(element, 'type').toLowerCase() === 'password';
        break;
      case 'time':
        head.published ??= attribute(element, 'datetime') || undefined;
        break;
      case 'a':
      case 'area':
        addLink(element, head);
        break;
      case 'div':
        head.isShell ||= /^(?:root|app|__next|__nuxt|svelte|ember-app|q-app)$/.test(attribute(element, 'id'));
    }
    return !isHidden(element.name) || element.name === 'head';
  });
  return head;
}

function addLink(element: Element, head: PageHead): void {
  head.hasMoreLinks ||= head.links.length >= LINKS_MAX;
  const url = head.hasMoreLinks ? undefined : absoluteUrl(attribute(element, 'href'), head.base);
  if (url !== undefined) head.links.push({ url, isNofollow: /\bnofollow\b/i.test(attribute(element, 'rel')) });
}

function titleOf(titled: string, heading: string, metadata: PageMetadata): string {
  const open = metadata.meta.get('og:title') ?? '';
  // In `Gannets | Sea birds`, the title of the page itself is the first part.
  const own = [open, heading].find((candidate) => candidate !== '' && titled.startsWith(candidate));
  const site = metadata.meta.get('og:site_name');
  const bare =
    site === undefined ? titled : titled.replace(new RegExp(`\\s*[|–—·:-]\\s*${escapeExpression(site)}$`), '');
  return own ?? (bare || open || heading);
}

function escapeExpression(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

function firstHeading(document: Document): string {
  const heading = firstNamed(document, 'h1');
  return heading === undefined ? '' : textWithin(heading).replaceAll('\n', ' ');
}

function firstNamed(document: ParentNode, name: string): Element | undefined {
  let found: Element | undefined;
  walk(document, (element) => {
    if (found === undefined && element.name === name) found = element;
    return found === undefined;
  });
  return found;
}

function firstOf(
  { meta, linkedData }: PageMetadata,
  names: readonly string[],
  members: readonly string[],
): string | undefined {
  for (const node of linkedData) {
    for (const member of members) {
      const [text] = textsOf(node[member]);
      if (text !== undefined) return text;
    }
  }
  for (const name of names) {
    const content = meta.get(name);
    if (content !== undefined) return content;
  }
  return undefined;
}

/** Returns the fields that only some pages have. */
function moreOf(document: Document, metadata: PageMetadata, selectors: PageSelectors): Record<string, FieldValue> {
  const { meta, linkedData } = metadata;
  const [main] = linkedData;
  const offer = linkedData.map((node) => node['offers']).find((value) => value !== undefined);
  const [firstOffer] = (Array.isArray(offer) ? offer : [offer]) as (Readonly<Record<string, unknown>> | undefined)[];
  const lists: FieldValues = {
    authors: distinct(
      [
        ...linkedData.flatMap((node) => textsOf(node['author'])),
        ...[meta.get('author') ?? '', meta.get('article:author') ?? ''],
      ].filter((name) => !/^https?:/.test(name)),
    ),
    keywords: distinct(
      [...linkedData.flatMap((node) => textsOf(node['keywords'])), meta.get('keywords') ?? ''].flatMap((text) =>
        text.slice(0, KEYWORDS_CHARACTERS_MAX).split(','),
      ),
    ),
  };
  const singles: FieldValues = {
    type: (main === undefined ? undefined : typesOf(main)[0]) ?? meta.get('og:type'),
    site_name: meta.get('og:site_name'),
    brand: firstOf(metadata, ['product:brand'], ['brand']),
    sku: firstOf(metadata, ['product:retailer_item_id'], ['sku']),
    price: textsOf(firstOffer?.['price'] ?? firstOffer?.['lowPrice'])[0] ?? meta.get('product:price:amount'),
    price_currency: textsOf(firstOffer?.['priceCurrency'])[0] ?? meta.get('product:price:currency'),
  };
  const chosen = Object.entries(selectors.fields ?? {}).map(([name, selector]) => {
    const texts = distinct(
      elementsBy(selector, document).map((element) => attribute(element, 'content') || textWithin(element)),
    );
    return [name, texts.length === 1 ? texts[0] : texts] as [string, FieldValue | undefined];
  });
  const all = [...Object.entries(lists), ...Object.entries(singles), ...chosen];
  return Object.fromEntries(
    all.filter((entry): entry is [string, FieldValue] => entry[1] !== undefined && entry[1].length > 0),
  );
}

function selected(document: Document, selector: string | undefined): string | undefined {
  const element = selector === undefined ? undefined : elementBy(selector, document);
  return element === undefined ? undefined : textWithin(element).replaceAll('\n', ' ') || undefined;
}

function languageOf(text: string | undefined): string | undefined {
  return /^[a-z]{2,3}(?=$|[-_])/i.exec(text?.trim() ?? '')?.[0].toLowerCase();
}
