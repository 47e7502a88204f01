/** Reads a page as a tree, up to a maximum depth and size. */
import { DomHandler, isTag, isText, type ChildNode, type Document, type Element } from 'domhandler';
import { Parser } from 'htmlparser2';
import { OPEN_ELEMENTS_MAX, parseInSlices } from '../text/bounded-parsing.js';
import type { Slices } from '../text/slices.js';

/** Maximum number of elements, texts and attributes. */
const NODES_MAX = 500_000;
/** Elements that must have an end tag. */
const ENDED = /^(?:article|aside|div|footer|form|header|main|nav|ol|script|section|style|table|title|ul)$/;
const UNFINISHED_TAG = /<[a-z/][^<>]{0,2000}$/i;

export interface PageTree {
  readonly document: Document;
  /** False if the page is too deep or too large, in which case the rest of it is missing. */
  readonly isWhole: boolean;
  /** True if the page ends within a tag, or with open elements and without the end tag of the page. */
  readonly breaksOff: boolean;
}

export async function readPageTree(html: string, slices: Slices): Promise<PageTree> {
  const handler = new BoundedHandler();
  await parseInSlices(new Parser(handler), html, () => handler.isBeyondBounds, { slices });
  const isWhole = !handler.isBeyondBounds;
  const breaksOff = isWhole && !handler.hasEnd && (handler.isLeftOpen || UNFINISHED_TAG.test(html.slice(-2048)));
  return { document: handler.root, isWhole, breaksOff };
}

class BoundedHandler extends DomHandler {
  isBeyondBounds = false;
  /** True if the page has `</body>` or `</html>`. */
  hasEnd = false;
  isLeftOpen = false;
  private nodes = 0;

  onattribute(): void {
    this.count();
  }

  /** The parser tells which element was closed, and whether the page closed it itself. */
  override onclosetag(name = '', isImplied = false): void {
    if (isImplied) this.isLeftOpen ||= ENDED.test(name);
    else this.hasEnd ||= name === 'body' || name === 'html';
    super.onclosetag();
  }

  protected override addNode(node: ChildNode): void {
    this.count();
    if (this.tagStack.length > OPEN_ELEMENTS_MAX) this.isBeyondBounds = true;
    // What else is in the same piece is dropped.
    if (!this.isBeyondBounds) super.addNode(node);
  }

  private count(): void {
    this.nodes += 1;
    if (this.nodes > NODES_MAX) this.isBeyondBounds = true;
  }
}

export function isElement(node: ChildNode): node is Element {
  return isTag(node);
}

/** Returns the text if the node is a text. */
export function textData(node: ChildNode): string | undefined {
  return isText(node) ? node.data : undefined;
}

export function childElements(node: { readonly children: readonly ChildNode[] }): Element[] {
  return node.children.filter(isElement);
}

/** Visits every element in its order, except those within an element for which `visit` returns false. */
export function walk(node: { readonly children: readonly ChildNode[] }, visit: (element: Element) => boolean): void {
  for (const child of node.children) if (isElement(child) && visit(child)) walk(child, visit);
}

export function attribute(element: Element, name: string): string {
  return element.attribs[name] ?? '';
}
