/** The key under which operations find feeds and the sources of lists. */
import { serviceKey, type OutboundRules } from '../platform/index.js';
import type { Feeds } from './feeds.js';
import type { ListSources } from './list-sources.js';

export interface FeedsPart {
  readonly feeds: Feeds;
  readonly sources: ListSources;
  /** The addresses that sources may have. */
  readonly outbound: OutboundRules;
}

export const FEEDS = serviceKey<FeedsPart>('feeds');
