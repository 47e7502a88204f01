/** A page as a tree, read as far as its depth and size allow. */
import { DomHandler, isTag, isText, type ChildNode, type Document, type Element } from 'domhandler';
import { Parser } from 'htmlparser2';
import { OPEN_ELEMENTS_MAX, parseBounded } from '../text/bounded-parsing.js';

const NODES_MAX = 500_000;

export interface PageTree {
  readonly document: Document;
  /** False: it was too deep or too large, and what stands behind is missing. */
  readonly isWhole: boolean;
}

export function readPageTree(html: string): PageTree {
  const handler = new BoundedHandler();
  const parser = new Parser(handler);
  parseBounded(parser, html, () => handler.isBeyondBounds);
  return { document: handler.root, isWhole: !handler.isBeyondBounds };
}

class BoundedHandler extends DomHandler {
  isBeyondBounds = false;
  private nodes = 0;

  protected override addNode(node: ChildNode): void {
    this.nodes += 1;
    if (this.nodes > NODES_MAX || this.tagStack.length > OPEN_ELEMENTS_MAX) this.isBeyondBounds = true;
    // What else comes in the same piece is let go.
    if (!this.isBeyondBounds) super.addNode(node);
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
