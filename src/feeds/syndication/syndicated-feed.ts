/** The common form of all syndication formats. */
import type { Slices } from '../text/slices.js';

export type SyndicationFormat = 'rss' | 'rdf' | 'atom' | 'json-feed';

export interface Enclosure {
  readonly url: string;
  readonly type: string | undefined;
  readonly bytes: number | undefined;
}

export interface SyndicatedItem {
  /** As the feed gives it in `guid`, `id` or `rdf:about`. */
  readonly guid: string | undefined;
  /** Absolute address. */
  readonly url: string | undefined;
  readonly title: string | undefined;
  readonly summary: string | undefined;
  readonly text: string | undefined;
  readonly authors: readonly string[];
  readonly categories: readonly string[];
  /** ISO 8601, in UTC. */
  readonly published: string | undefined;
  readonly updated: string | undefined;
  readonly image: string | undefined;
  readonly enclosures: readonly Enclosure[];
}

export interface SyndicatedFeed {
  readonly format: SyndicationFormat;
  readonly title: string | undefined;
  readonly language: string | undefined;
  readonly items: readonly SyndicatedItem[];
  /**
   * False if the document breaks off, so that items are missing at its end. An item that is itself cut off is left out.
   */
  readonly isWhole: boolean;
}

/** Thrown if the document is not a feed. The message is a sentence for whoever gave its address. */
export class NotAFeedError extends Error {
  override readonly name = 'NotAFeedError';
}

export interface ReadingContext {
  /** The base of relative addresses. */
  readonly url: string;
  readonly nowMs: number;
  /** By default, the document is read in slices of its own. */
  readonly slices?: Slices;
}

export const ITEMS_MAX = 50_000;
export const ITEM_TEXT_CHARACTERS_MAX = 200_000;
export const SHORT_TEXT_CHARACTERS_MAX = 2000;
export const NAMES_MAX = 50;
/** Maximum number of elements that are looked at to find the allowed number of names. */
export const NAMES_LOOKED_AT_MAX = 200;
/** Maximum length of the source of one name, including its markup. */
export const NAME_SOURCE_CHARACTERS_MAX = 4000;
export const ENCLOSURES_MAX = 200;
/** Longer addresses do not lead anywhere, and it takes time to find that out. */
const URL_CHARACTERS_MAX = 16_384;

/** Returns the absolute address, or undefined if it is not an http or https address. */
export function absoluteUrl(text: string | undefined, base: string): string | undefined {
  const trimmed = (text ?? '').trim();
  if (trimmed === '' || trimmed.length > URL_CHARACTERS_MAX || !URL.canParse(trimmed, base)) return undefined;
  const url = new URL(trimmed, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}

/** Returns the names without empty ones and repetitions. */
export function distinct(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].slice(0, NAMES_MAX);
}
