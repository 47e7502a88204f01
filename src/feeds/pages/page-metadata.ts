/** What a page says about itself in `meta` elements, OpenGraph and JSON-LD (schema.org). */
import { parseExactJson } from '../../platform/index.js';
import { wellFormed } from '../text/cut-text.js';
import type { Document } from 'domhandler';
import { attribute, textData, walk } from './page-tree.js';

const SCRIPTS_MAX = 20;
const SCRIPT_CHARACTERS_MAX = 262_144;
const LINKED_NODES_MAX = 500;
const LINKED_DEPTH_MAX = 8;
/** Types of JSON-LD nodes that describe the page as a whole. These are put first, with `WebPage` after the others. */
const MAIN_TYPES =
  /(?:Article|Posting|Product|Recipe|Event|Course|Book|Movie|JobPosting|FAQPage|HowTo|Report|WebPage)$/;

export type Members = Readonly<Record<string, unknown>>;

export interface PageMetadata {
  /** By name or property in lower case. The first value of each is kept. */
  readonly meta: ReadonlyMap<string, string>;
  /** The nodes of all JSON-LD, those that describe the page itself first. */
  readonly linkedData: readonly Members[];
}

export function metadataOf(document: Document): PageMetadata {
  const meta = new Map<string, string>();
  const nodes: Members[] = [];
  let scripts = 0;
  walk(document, (element) => {
    if (element.name === 'meta') {
      const name = (
        attribute(element, 'property') ||
        attribute(element, 'name') ||
        attribute(element, 'itemprop') ||
        attribute(element, 'http-equiv')
      ).toLowerCase();
      const content = attribute(element, 'content').trim();
      if (name !== '' && content !== '' && !meta.has(name)) meta.set(name, content);
    }
    if (element.name === 'script' && /^application\/ld\+json/i.test(attribute(element, 'type'))) {
      const [child] = element.children;
      scripts += 1;
      const data = child === undefined ? '' : (textData(child) ?? '');
      if (scripts <= SCRIPTS_MAX && data.length <= SCRIPT_CHARACTERS_MAX) collect(parsed(data), nodes, 0);
    }
    return true;
  });
  const rank = (node: Members) =>
    MAIN_TYPES.test(typesOf(node)[0] ?? '') ? (typesOf(node)[0] === 'WebPage' ? 1 : 0) : 2;
  return { meta, linkedData: nodes.sort((one, other) => rank(one) - rank(other)) };
}

/** Returns undefined for a text that is not JSON. */
function parsed(text: string): unknown {
  try {
    return parseExactJson(text.replace(/^\s*<!--|-->\s*$/g, ''));
  } catch {
    return undefined;
  }
}

function collect(value: unknown, nodes: Members[], depth: number): void {
  if (typeof value !== 'object' || value === null || depth > LINKED_DEPTH_MAX || nodes.length >= LINKED_NODES_MAX)
    return;
  if (Array.isArray(value)) {
    for (const each of value) collect(each, nodes, depth + 1);
    return;
  }
  const members = value as Members;
  if (typesOf(members).length > 0) nodes.push(members);
  collect(members['@graph'], nodes, depth + 1);
  collect(members['mainEntity'], nodes, depth + 1);
}

export function typesOf(node: Members): string[] {
  const types: unknown = node['@type'];
  return (Array.isArray(types) ? (types as unknown[]) : [types]).filter((type) => typeof type === 'string');
}

/** Returns the texts that a member holds: its own value, or the names of the objects in it. */
export function textsOf(value: unknown, depth = 0): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [wellFormed(value.trim())];
  if (typeof value === 'number') return [String(value)];
  if (typeof value !== 'object' || value === null || depth > 3) return [];
  if (Array.isArray(value)) return value.slice(0, 50).flatMap((each) => textsOf(each, depth + 1));
  const members = value as Members;
  return textsOf(members['name'] ?? members['@value'] ?? members['url'] ?? members['contentUrl'], depth + 1);
}
