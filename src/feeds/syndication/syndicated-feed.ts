/** What all formats of syndication come down to. */

export type SyndicationFormat = 'rss' | 'rdf' | 'atom' | 'json-feed';

export interface Enclosure {
  readonly url: string;
  readonly type: string | undefined;
  readonly bytes: number | undefined;
}

export interface SyndicatedItem {
  /** As the feed gives it: `guid`, `id` or `rdf:about`. */
  readonly guid: string | undefined;
  /** Absolute. */
  readonly url: string | undefined;
  readonly title: string | undefined;
  readonly summary: string | undefined;
  readonly text: string | undefined;
  readonly authors: readonly string[];
  readonly categories: readonly string[];
  /** ISO 8601, UTC. */
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
  /** False: it breaks off, and items are missing at its end; one that it breaks off in is left out. */
  readonly isWhole: boolean;
}

/** The document is no feed; the message is a sentence for whoever named its address. */
export class NotAFeedError extends Error {
  override readonly name = 'NotAFeedError';
}

export interface ReadingContext {
  /** The address that relative ones are relative to. */
  readonly url: string;
  readonly nowMs: number;
}

export const ITEMS_MAX = 50_000;
export const ITEM_TEXT_CHARACTERS_MAX = 200_000;
export const SHORT_TEXT_CHARACTERS_MAX = 2000;
export const NAMES_MAX = 50;

/** Undefined for what is no http or https address. */
export function absoluteUrl(text: string | undefined, base: string): string | undefined {
  const trimmed = (text ?? '').trim();
  if (trimmed === '' || !URL.canParse(trimmed, base)) return undefined;
  const url = new URL(trimmed, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}

/** Without the empty ones and repetitions. */
export function distinct(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].slice(0, NAMES_MAX);
}
