/** The feature of feeds: outside sources that are kept current, and searchable in lists. */
import type { Feature } from '../operations/index.js';
import { FEED_SETTINGS } from './feed-settings.js';

const ofOne = { arguments: ['feed'], example: ['news'] } as const;
const print = async () => (await import('./feed-text.js')).feedsText;
const printOne = async () => (await import('./feed-text.js')).feedText;

export const feeds: Feature = {
  name: 'feeds',
  settings: FEED_SETTINGS,
  commands: [
    {
      name: 'feed connect',
      group: 'connect outside sources, sync and remove them, and make them searchable in lists',
      operation: 'feed.connect',
      begins: true,
      arguments: ['name'],
      secrets: ['secret'],
      example: ['news', '--provider', 'rss', '--settings', '{"url":"https://example.com/feed"}'],
      print: printOne,
    },
    { name: 'feed list', operation: 'feed.list', print },
    { name: 'feed show', operation: 'feed.read', ...ofOne },
    {
      name: 'feed sync',
      operation: 'feed.sync',
      ...ofOne,
      whileStopped: 'the feed is synced when it runs',
      print: printOne,
      follow: async () => (await import('./feed-text.js')).syncFollower,
    },
    {
      name: 'feed interval',
      operation: 'feed.interval',
      arguments: ['feed', 'interval_minutes'],
      example: ['news', '60'],
      print: printOne,
    },
    {
      name: 'feed secret',
      operation: 'feed.secret',
      ...ofOne,
      secrets: ['secret'],
      print: printOne,
    },
    {
      name: 'feed discover',
      operation: 'feed.discover',
      begins: true,
      example: ['--settings', '{"start_urls":["https://example.com/"]}'],
      print: async () => (await import('./feed-text.js')).discoveryText,
    },
    {
      name: 'feed move',
      operation: 'feed.move',
      arguments: ['feed', 'media_store'],
      example: ['news', 'archive'],
      print: printOne,
    },
    { name: 'feed delete', operation: 'feed.delete', ...ofOne },
    { name: 'feed search', operation: 'list.feed', arguments: ['feed', 'list'], example: ['news', 'articles'] },
  ],
  sealed: [
    { collection: 'feeds', called: 'feed', sealedOf: ({ secret }: { readonly secret: string | null }) => [secret] },
  ],
  load: async () => (await import('./feed-parts.js')).feedParts,
};
