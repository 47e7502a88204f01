/**
 * Finds the part of a page that holds its content, without navigation, banners and footers.
 *
 * What the page itself declares comes first (`main`, `article` and the corresponding roles). Otherwise each paragraph
 * adds a score to its parent element and half of it to the element around that, and text that consists of links counts
 * for less, as in Arc90's Readability (2009).
 */
import type { Element, ParentNode } from 'domhandler';
import { isBlock, isHidden, tidied } from '../text/html-text.js';
import { attribute, childElements, isElement, textData, walk } from './page-tree.js';

const NEVER_CONTENT = new Set(['nav', 'footer', 'aside', 'form', 'dialog', 'button', 'input', 'textarea']);
const NEVER_ROLES = new Set([
  'navigation',
  'banner',
  'contentinfo',
  'search',
  'complementary',
  'dialog',
  'alertdialog',
  'menu',
  'menubar',
]);
const CONTAINERS = new Set(['div', 'section', 'ul', 'ol', 'table', 'p', 'span']);
const BESIDE_CONTENT =
  /(?:^|[\s_-])(?:cookies?|consent|gdpr|newsletter|subscribe|breadcrumbs?|sidebar|side-bar|share|sharing|social|related|comments?|disqus|advert\w*|ads?|promo|popup|modal|menu|navbar|nav|toc|pagination|pager|skip-link|sr-only|visually-hidden|hidden-print)(?:$|[\s_-])/i;
const LINKED_SHARE_MAX = 0.5;
const PARAGRAPH_CHARACTERS_MIN = 25;
/** A `main` with less text is only a shell around something else. */
const CONTENT_CHARACTERS_MIN = 80;

export interface MainContent {
  readonly element: ParentNode;
  /** Returns true for an element within the content that is left out. */
  readonly isLeftOut: (element: Element) => boolean;
}

/** Finds the content. `removed`: elements that are left out by the settings of the feed. */
export function mainContent(body: ParentNode, removed: ReadonlySet<Element>): MainContent {
  const sizes = new TextSizes(removed);
  sizes.measure(body);
  const isLeftOut = (element: Element) => removed.has(element) || isBesideContent(element, sizes);
  return { element: declared(body, sizes, isLeftOut) ?? scored(body, sizes, isLeftOut) ?? body, isLeftOut };
}

function declared(
  body: ParentNode,
  sizes: TextSizes,
  isLeftOut: (element: Element) => boolean,
): ParentNode | undefined {
  const mains: Element[] = [];
  const articles: Element[] = [];
  walk(body, (element) => {
    if (isHidden(element.name) || isLeftOut(element)) return false;
    const isMain = element.name === 'main' || attribute(element, 'role') === 'main';
    if (isMain) mains.push(element);
    if (element.name === 'article') articles.push(element);
    return !isMain;
  });
  const [main] = mains.filter((element) => sizes.of(element).characters >= CONTENT_CHARACTERS_MIN);
  if (main !== undefined && mains.length === 1) return main;
  const large = articles.filter((element) => sizes.of(element).characters >= CONTENT_CHARACTERS_MIN);
  // Several articles are a list of them. The element that holds the list is found by its score.
  return large.length === 1 ? large[0] : undefined;
}

function scored(body: ParentNode, sizes: TextSizes, isLeftOut: (element: Element) => boolean): ParentNode | undefined {
  const scores = new Map<ParentNode, number>();
  const add = (element: ParentNode | null, score: number) => {
    if (element !== null) scores.set(element, (scores.get(element) ?? 0) + score);
  };
  walk(body, (element) => {
    if (isHidden(element.name) || isLeftOut(element)) return false;
    const { characters, linked } = sizes.of(element);
    const isParagraph =
      /^(?:p|pre|td|blockquote|li|dd)$/.test(element.name) ||
      (element.name === 'div' && !childElements(element).some(({ name }) => isBlock(name)));
    if (isParagraph && characters >= PARAGRAPH_CHARACTERS_MIN) {
      const score = (1 + Math.min(characters / 100, 10)) * (1 - linked / characters);
      add(element.parent, score);
      add(element.parent?.parent ?? null, score / 2);
    }
    return true;
  });
  let best: ParentNode | undefined;
  let bestScore = 0;
  for (const [element, score] of scores) {
    if (score > bestScore) [best, bestScore] = [element, score];
  }
  return best;
}

function isBesideContent(element: Element, sizes: TextSizes): boolean {
  const { name } = element;
  if (NEVER_CONTENT.has(name) || NEVER_ROLES.has(attribute(element, 'role'))) return true;
  if (
    attribute(element, 'hidden') !== '' ||
    'hidden' in element.attribs ||
    attribute(element, 'aria-hidden') === 'true'
  )
    return true;
  // The header of an article contains its title.
  if (name === 'header') return !hasHeading(element);
  if (!CONTAINERS.has(name)) return false;
  const { characters, linked } = sizes.of(element);
  if (BESIDE_CONTENT.test(`${attribute(element, 'class')} ${attribute(element, 'id')}`))
    return linked > characters * LINKED_SHARE_MAX || characters < 500;
  return name === 'ul' && characters > 0 && linked > characters * 0.9 && childElements(element).length > 3;
}

function hasHeading(header: Element): boolean {
  let isFound = false;
  walk(header, ({ name }) => {
    isFound ||= name === 'h1';
    return !isFound;
  });
  return isFound;
}

interface TextSize {
  readonly characters: number;
  /** How many of them are within links. */
  readonly linked: number;
}

const NO_TEXT: TextSize = { characters: 0, linked: 0 };

/** How much text each element holds, measured once per page. */
class TextSizes {
  private readonly sizes = new Map<ParentNode, TextSize>();

  constructor(private readonly removed: ReadonlySet<Element>) {}

  of(element: ParentNode): TextSize {
    return this.sizes.get(element) ?? NO_TEXT;
  }

  measure(element: ParentNode): TextSize {
    let characters = 0;
    let linked = 0;
    for (const child of element.children) {
      characters += textData(child)?.trim().length ?? 0;
      if (!isElement(child) || isHidden(child.name) || this.removed.has(child)) continue;
      const size = this.measure(child);
      characters += size.characters;
      linked += child.name === 'a' ? size.characters : size.linked;
    }
    const size = { characters, linked };
    this.sizes.set(element, size);
    return size;
  }
}

export interface ContentHeading {
  readonly level: number;
  readonly text: string;
  /** Undefined if nothing on the page can be linked to for this heading. */
  readonly anchor: string | undefined;
}

export interface ContentSection {
  /** Undefined for the text before the first heading. */
  readonly heading: ContentHeading | undefined;
  readonly text: string;
}

/** Returns the content in its order, cut before each heading. */
export function sectionsOf({ element, isLeftOut }: MainContent): ContentSection[] {
  const sections: { heading: ContentHeading | undefined; pieces: string[] }[] = [{ heading: undefined, pieces: [] }];
  const visit = (node: ParentNode, anchor: string | undefined): void => {
    for (const child of node.children) {
      const data = textData(child);
      if (data !== undefined) sections.at(-1)?.pieces.push(data);
      if (!isElement(child) || isHidden(child.name) || isLeftOut(child)) continue;
      const level = /^h([1-6])$/.exec(child.name)?.[1];
      const own = attribute(child, 'id') || undefined;
      if (level !== undefined) {
        const text = headingText(child);
        const heading = { level: Number(level), text, anchor: own ?? innerAnchor(child) ?? anchor };
        if (text !== '') sections.push({ heading, pieces: [] });
        continue;
      }
      if (isBlock(child.name)) sections.at(-1)?.pieces.push('\n');
      visit(child, /^(?:section|div|article)$/.test(child.name) ? own : undefined);
      if (isBlock(child.name)) sections.at(-1)?.pieces.push('\n');
    }
  };
  visit(element, undefined);
  return sections.map(({ heading, pieces }) => ({ heading, text: tidied(pieces.join('')) }));
}

export function textWithin(element: ParentNode): string {
  const pieces: string[] = [];
  const visit = (node: ParentNode): void => {
    for (const child of node.children) {
      const data = textData(child);
      if (data !== undefined) pieces.push(data);
      else if (isElement(child) && !isHidden(child.name)) {
        const edge = isBlock(child.name) ? '\n' : '';
        pieces.push(edge);
        visit(child);
        pieces.push(edge);
      }
    }
  };
  visit(element);
  return tidied(pieces.join(''));
}

/** Returns the text of a heading without the sign that links to it. */
function headingText(heading: Element): string {
  return textWithin(heading)
    .replaceAll('\n', ' ')
    .replace(/\s*[¶#🔗§]\s*$/u, '')
    .trim();
}

function innerAnchor(heading: Element): string | undefined {
  let anchor: string | undefined;
  walk(heading, (element) => {
    anchor ??= attribute(element, 'id') || (element.name === 'a' && attribute(element, 'name')) || undefined;
    return anchor === undefined;
  });
  return anchor;
}
