/**
 * Reads XML as it occurs in practice, without ever failing: with bare ampersands, tags that are never closed, and
 * control characters. A document type is ignored, so there are no entities except those of XML itself and character
 * references by number.
 */
import { Parser } from 'htmlparser2';
import { OPEN_ELEMENTS_MAX, parseInSlices } from '../text/bounded-parsing.js';
import { Slices } from '../text/slices.js';

const DEPTH_MAX = 64;
/** Maximum number of elements and attributes. */
const NODES_MAX = 2_000_000;
/**
 * Maximum number of elements and pieces of text in one item. Whoever reads an item looks through them once per field.
 */
const ITEM_NODES_MAX = 20_000;
/** Maximum number of pieces of one text. The parser delivers a piece for each entity. */
const PIECES_MAX = 1024;
/** XML allows hardly any of them. */
const CONTROL_CHARACTERS = /(?![\t\n\r])\p{Cc}/gu;

const ITEMS = new Set(['item', 'entry']);

/** Elements that hold only text in every format. If one of FIELDS is inside one of them, it was never closed. */
const TEXT_ELEMENTS = new Set(['title', 'link', 'guid', 'pubdate', 'id', 'updated', 'published']);
const FIELDS = new Set([
  ...TEXT_ELEMENTS,
  'item',
  'entry',
  'description',
  'summary',
  'content',
  'author',
  'category',
  'enclosure',
  'language',
  'dc:date',
  'dc:creator',
]);

/** The prefix under which elements of a namespace are found, whatever prefix a document uses. */
const PREFIXES: ReadonlyMap<string, string> = new Map([
  ['http://www.w3.org/2005/Atom', ''],
  ['http://purl.org/atom/ns#', ''],
  ['http://purl.org/rss/1.0/', ''],
  ['http://my.netscape.com/rdf/simple/0.9/', ''],
  ['http://backend.userland.com/rss2', ''],
  ['http://blogs.law.harvard.edu/tech/rss', ''],
  ['http://www.sitemaps.org/schemas/sitemap/0.9', ''],
  ['http://www.google.com/schemas/sitemap/0.84', ''],
  ['http://www.w3.org/1999/02/22-rdf-syntax-ns#', 'rdf:'],
  ['http://purl.org/dc/elements/1.1/', 'dc:'],
  ['http://purl.org/dc/terms/', 'dcterms:'],
  ['http://purl.org/rss/1.0/modules/content/', 'content:'],
  ['http://search.yahoo.com/mrss/', 'media:'],
  ['http://search.yahoo.com/mrss', 'media:'],
  ['http://www.itunes.com/dtds/podcast-1.0.dtd', 'itunes:'],
  ['http://www.w3.org/1999/xhtml', 'xhtml:'],
]);

export interface XmlElement {
  /**
   * In lower case. It has the usual prefix if its namespace is a known one, and no prefix if the namespace is that of
   * the format.
   */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (XmlElement | string)[];
}

export interface XmlTree {
  readonly root: XmlElement | undefined;
  /**
   * False if the root element was never closed or the document is larger than what is read, so that something is
   * missing at the end.
   */
  readonly isWhole: boolean;
  /** Elements that were open when the document ended or no more of it was read. They are incomplete. */
  readonly cutOff: ReadonlySet<XmlElement>;
}

/** Reads a document. `nodesMax`: maximum number of elements and attributes; the rest of the document is not read. */
export async function readXmlTree(
  text: string,
  { nodesMax = NODES_MAX, slices = new Slices() }: { readonly nodesMax?: number; readonly slices?: Slices } = {},
): Promise<XmlTree> {
  const builder = new TreeBuilder(nodesMax);
  const parser = new Parser(builder, {
    xmlMode: true,
    decodeEntities: true,
    lowerCaseTags: true,
    lowerCaseAttributeNames: true,
  });
  await parseInSlices(parser, text, () => builder.isTooDeep || builder.isOverfull, {
    slices,
    clean: (piece) => piece.replace(CONTROL_CHARACTERS, ''),
  });
  const { root, isClosed, isOverfull, leftOpen, lacking } = builder;
  return { root, isWhole: isClosed && !isOverfull, cutOff: new Set([...leftOpen, ...lacking]) };
}

export function childrenOf(element: XmlElement | undefined, ...names: readonly string[]): XmlElement[] {
  return (element?.children ?? []).filter(
    (child): child is XmlElement => typeof child !== 'string' && names.includes(child.name),
  );
}

export function childOf(element: XmlElement | undefined, ...names: readonly string[]): XmlElement | undefined {
  for (const name of names) {
    const found = childrenOf(element, name).find((child) => child.children.length > 0) ?? childrenOf(element, name)[0];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns all text within the element in its order. */
export function textOf(element: XmlElement | undefined): string {
  if (element === undefined) return '';
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** Returns the elements within as HTML. If there is only text, it is returned with its special characters escaped. */
export function markupOf(element: XmlElement | undefined): string {
  if (element === undefined) return '';
  return element.children
    .map((child) => {
      if (typeof child === 'string') return child.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      const name = child.name.replace(/^.*:/, '');
      return `<${name}>${markupOf(child)}</${name}>`;
    })
    .join('');
}

class TreeBuilder {
  root: XmlElement | undefined;
  isClosed = false;
  isTooDeep = false;
  /** Elements that were open when the limit was exceeded. */
  readonly lacking = new Set<XmlElement>();
  /**
   * Elements that have been closed since the last tag without an end tag of their own. At the end, these are the ones
   * that the end of the document closed.
   */
  readonly leftOpen = new Set<XmlElement>();
  private readonly open: XmlElement[] = [];
  private readonly prefixes = new Map<string, string>();
  /** Number of open elements beyond the limits. They are ignored, but their text is kept in place. */
  private passedOver = 0;
  private nodes = 0;
  /** Number of nodes since the last item began. */
  private itemNodes = 0;
  /**
   * Pieces of a text, which are joined together at once. If they were appended one by one, each of millions would
   * remain a separate object.
   */
  private readonly pieces: string[] = [];

  constructor(private readonly nodesMax: number) {}

  get isOverfull(): boolean {
    return this.nodes > this.nodesMax;
  }

  /** Called for each attribute of the element that is opened next. */
  onattribute(name: string, value: string): void {
    this.count();
    if (!name.startsWith('xmlns')) return;
    const known = PREFIXES.get(value.trim());
    if (known !== undefined) this.prefixes.set(name.slice('xmlns:'.length), known);
  }

  onopentag(rawName: string, attributes: Record<string, string>): void {
    this.leftOpen.clear();
    this.keepText();
    this.count();
    const name = this.named(rawName);
    this.itemNodes = ITEMS.has(name) ? 0 : this.itemNodes + 1;
    const isTooMuch = this.itemNodes > ITEM_NODES_MAX && this.isInItem();
    if (this.open.length >= DEPTH_MAX || this.isOverfull || isTooMuch || this.passedOver > 0) {
      this.passedOver += 1;
      if (this.passedOver > OPEN_ELEMENTS_MAX) this.isTooDeep = true;
      return;
    }
    const element: XmlElement = { name, attributes, children: [] };
    const parent = FIELDS.has(element.name)
      ? (this.open.findLast(({ name }) => !TEXT_ELEMENTS.has(name)) ?? this.open.at(-1))
      : this.open.at(-1);
    if (parent !== undefined) parent.children.push(element);
    // Elements after the root are ignored.
    else this.root ??= element;
    this.open.push(element);
  }

  ontext(text: string): void {
    if (this.open.length === 0 || this.isOverfull) return;
    this.pieces.push(text);
    if (this.pieces.length >= PIECES_MAX) this.keepText();
  }

  onclosetag(_name: string, isImplied: boolean): void {
    if (!isImplied) this.leftOpen.clear();
    this.keepText();
    if (this.passedOver > 0) {
      this.passedOver -= 1;
      return;
    }
    const closed = this.open.pop();
    if (isImplied && closed !== undefined) this.leftOpen.add(closed);
    if (closed !== undefined && closed === this.root) this.isClosed = !isImplied;
  }

  private keepText(): void {
    const parent = this.open.at(-1);
    if (this.pieces.length === 0 || parent === undefined) return;
    const text = this.pieces.join('');
    this.pieces.length = 0;
    const last = parent.children.at(-1);
    if (typeof last === 'string') parent.children[parent.children.length - 1] = last + text;
    else {
      this.itemNodes += 1;
      parent.children.push(text);
    }
  }

  private isInItem(): boolean {
    return this.open.some(({ name }) => ITEMS.has(name));
  }

  private count(): void {
    this.nodes += 1;
    if (this.nodes === this.nodesMax + 1) for (const element of this.open) this.lacking.add(element);
  }

  private named(rawName: string): string {
    const colon = rawName.indexOf(':');
    const prefix = colon === -1 ? '' : rawName.slice(0, colon);
    const local = rawName.slice(colon + 1);
    const known = this.prefixes.get(prefix);
    return known === undefined ? rawName : `${known}${local}`;
  }
}
