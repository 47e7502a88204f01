/** A page as a tree, read as far as its depth and size allow. */
import { DomHandler, isTag, isText, type ChildNode, type Document, type Element } from 'domhandler';
import { Parser } from 'htmlparser2';
import { OPEN_ELEMENTS_MAX, parseInSlices } from '../text/bounded-parsing.js';
import type { Slices } from '../text/slices.js';

/** Elements, texts and attributes. */
const NODES_MAX = 500_000;
/** Elements whose end no page may leave out. */
const ENDED = /^(?:article|aside|div|footer|form|header|main|nav|ol|script|section|style|table|title|ul)$/;
const UNFINISHED_TAG = /<[a-z/][^<>]{0,2000}$/i;

export interface PageTree {
  readonly document: Document;
  /** False: it was too deep or too large, and what stands behind is missing. */
  readonly isWhole: boolean;
  /** It ends in the middle of a tag, or with elements open and without the end of the page. */
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
  /** `</body>` or `</html>`. */
  hasEnd = false;
  isLeftOpen = false;
  private nodes = 0;

  onattribute(): void {
    this.count();
  }

  /** Its parser says what was closed, and whether the page said so. */
  override onclosetag(name = '', isImplied = false): void {
    if (isImplied) this.isLeftOpen ||= ENDED.test(name);
    else this.hasEnd ||= name === 'body' || name === 'html';
    super.onclosetag();
  }

  protected override addNode(node: ChildNode): void {
    this.count();
    if (this.tagStack.length > OPEN_ELEMENTS_MAX) this.isBeyondBounds = true;
    // What else comes in the same piece is let go.
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

/** Of a node that is text. */
export function textData(node: ChildNode): string | undefined {
  return isText(node) ? node.data : undefined;
}

export function childElements(node: { readonly children: readonly ChildNode[] }): Element[] {
  return node.children.filter(isElement);
}

/** Every element in its order, but for those within one that `visit` answers false for. */
export function walk(node: { readonly children: readonly ChildNode[] }, visit: (element: Element) => boolean): void {
  for (const child of node.children) if (isElement(child) && visit(child)) walk(child, visit);
}

export function attribute(element: Element, name: string): string {
  return element.attribs[name] ?? '';
}
