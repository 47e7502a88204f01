/** Under which name operations find feeds, and what lists import from. */
import { serviceKey, type OutboundRules } from '../platform/index.js';
import type { Feeds } from './feeds.js';
import type { ListSources } from './list-sources.js';

export interface FeedsPart {
  readonly feeds: Feeds;
  readonly sources: ListSources;
  /** Which addresses sources may have. */
  readonly outbound: OutboundRules;
}

export const FEEDS = serviceKey<FeedsPart>('feeds');
