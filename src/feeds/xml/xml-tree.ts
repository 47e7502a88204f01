/**
 * XML as it is found in the wild, read without ever failing: bare ampersands, tags that nobody closes, control characters. A document
 * type is passed over, so there are no entities but those of XML itself and characters by their numbers.
 */
import { Parser } from 'htmlparser2';
import { OPEN_ELEMENTS_MAX, parseInSlices } from '../text/bounded-parsing.js';
import { Slices } from '../text/slices.js';

const DEPTH_MAX = 64;
/** Elements and attributes. */
const NODES_MAX = 2_000_000;
/** Of one item, elements and pieces of text: its reader looks through them once for each field. */
const ITEM_NODES_MAX = 20_000;
/** Pieces of one text, which comes in as many as it has entities. */
const PIECES_MAX = 1024;
/** XML allows hardly any. */
const CONTROL_CHARACTERS = /(?![\t\n\r])\p{Cc}/gu;

const ITEMS = new Set(['item', 'entry']);

/** Hold text alone in every format, so that one of FIELDS within means that nobody closed them. */
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

/** By which prefix elements of a namespace are found, whatever prefix a document gave it. */
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
  /** In lower case; with the usual prefix where its namespace is a known one, and without where it is that of the format. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: (XmlElement | string)[];
}

export interface XmlTree {
  readonly root: XmlElement | undefined;
  /** False: the root element was never closed, or there is more than is read, so something is missing at the end. */
  readonly isWhole: boolean;
  /** Those that were open where the document ended, or where no more of it was read: they lack something. */
  readonly cutOff: ReadonlySet<XmlElement>;
}

/** `nodesMax`: of elements and attributes; what stands behind so many is not read. */
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

/** All text within, in its order. */
export function textOf(element: XmlElement | undefined): string {
  if (element === undefined) return '';
  return element.children.map((child) => (typeof child === 'string' ? child : textOf(child))).join('');
}

/** The elements within as HTML; of text alone, the text as it is. */
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
  /** Open where the bound was met. */
  readonly lacking = new Set<XmlElement>();
  /** Closed by nothing of their own since the last tag: at the end, those that the end closed. */
  readonly leftOpen = new Set<XmlElement>();
  private readonly open: XmlElement[] = [];
  private readonly prefixes = new Map<string, string>();
  /** Opened beyond the bounds: passed over, with their text kept where they stand. */
  private passedOver = 0;
  private nodes = 0;
  /** Since the last item began. */
  private itemNodes = 0;
  /** Put together at once: added to a text one by one, each of millions would stay an object of its own. */
  private readonly pieces: string[] = [];

  constructor(private readonly nodesMax: number) {}

  get isOverfull(): boolean {
    return this.nodes > this.nodesMax;
  }

  /** Of the element that opens next. */
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
    // What stands behind the root is not looked at.
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
