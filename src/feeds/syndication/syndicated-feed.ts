/** What all formats of syndication come down to. */
import type { Slices } from '../text/slices.js';

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
  /** Default: its own. */
  readonly slices?: Slices;
}

export const ITEMS_MAX = 50_000;
export const ITEM_TEXT_CHARACTERS_MAX = 200_000;
export const SHORT_TEXT_CHARACTERS_MAX = 2000;
export const NAMES_MAX = 50;
/** So many are looked at to find as many names as there may be. */
export const NAMES_LOOKED_AT_MAX = 200;
/** Of the source of one name, markup and all. */
export const NAME_SOURCE_CHARACTERS_MAX = 4000;
export const ENCLOSURES_MAX = 200;
/** Longer ones lead nowhere, and take time to find that out. */
const URL_CHARACTERS_MAX = 16_384;

/** Undefined for what is no http or https address. */
export function absoluteUrl(text: string | undefined, base: string): string | undefined {
  const trimmed = (text ?? '').trim();
  if (trimmed === '' || trimmed.length > URL_CHARACTERS_MAX || !URL.canParse(trimmed, base)) return undefined;
  const url = new URL(trimmed, base);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : undefined;
}

/** Without the empty ones and repetitions. */
export function distinct(names: readonly string[]): string[] {
  return [...new Set(names.map((name) => name.trim()).filter((name) => name !== ''))].slice(0, NAMES_MAX);
}
