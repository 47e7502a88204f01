/** Schemas of feeds, and of the sources of lists. */
import { Type, type Static } from 'typebox';
import { accountName, listName, nameSchema, nullable, named, object, oneOf, timeSchema } from '../operations/index.js';
import { PROVIDERS } from './providers/provider-settings.js';
import { statusOf } from './runs/feed-state.js';
import { feedPath, type FeedRow, type SourceRow } from './types.js';

export const INTERVAL_MINUTES_DEFAULT = 30;
/** The built-in store, which every account has. */
export const DEFAULT_STORE = 'default';
const count = (description: string) => Type.Integer({ minimum: 0, description });

export const feedName = nameSchema('Name of the feed', 'news');
const storeName = nameSchema('Name of the media store', 'default');
export const feedParams = object({ account: accountName, feed: feedName });
export const sourceParams = object({ account: accountName, list: listName });

export const intervalMinutes = Type.Integer({
  minimum: 5,
  maximum: 43_200,
  description: `Minutes between two syncs; default ${INTERVAL_MINUTES_DEFAULT}`,
});
export const mediaStore = Type.String({
  ...storeName,
  description: 'Media store for the synced file; default `default`, the built-in one',
});

const failure = named('FeedFault', {
  message: Type.String({ description: 'What was wrong' }),
  at: timeSchema('When it was found out'),
});

const lastRun = named('FeedRun', {
  added: count('Records that are new'),
  changed: count('Records that differ'),
  removed: count('Records that are gone'),
  unchanged: count('Records that are as they were'),
  skipped: Type.Array(
    object({
      what: Type.String({ description: 'The page, item or record' }),
      why: Type.String({ description: 'Why it is left out' }),
    }),
    { description: 'What was left out: the first 100' },
  ),
  requests: count('Requests to the source'),
  bytes: count('Bytes of its answers, unpacked'),
  took_ms: count('Milliseconds'),
});

export const feedResource = named('Feed', {
  name: feedName,
  provider: oneOf(PROVIDERS),
  file: Type.String({ description: 'Path of the synced file in its media store', examples: ['feeds/news.sync'] }),
  media_store: storeName,
  interval_minutes: intervalMinutes,
  status: oneOf(['Waiting for first sync', 'Syncing', 'Synced', 'Failed']),
  last_checked: nullable(timeSchema('When the last attempt was made, whatever its outcome')),
  last_synced: nullable(timeSchema('When the last sync succeeded')),
  next_sync: nullable(timeSchema('When the next sync is due'), {
    description: 'Null: as soon as there is room for it',
  }),
  error: nullable(failure, { description: 'Error of the last attempt, if it failed' }),
  record_count: count('Records of the file'),
  last_run: nullable(lastRun, { description: 'Figures of the last sync that succeeded' }),
  searchable_in: Type.Array(listName, { description: 'Lists that hold the records' }),
  settings: Type.Record(Type.String(), Type.Unknown(), { description: 'Settings of the provider, without secrets' }),
  has_secret: Type.Boolean({ description: 'Whether the source is read with a secret, which is never shown' }),
});

/** `searchableIn`: names of lists. */
export function describeFeed(
  row: FeedRow,
  isSyncing: boolean,
  searchableIn: readonly string[],
): Static<typeof feedResource> {
  const { name, provider, media_store, interval_minutes, state, next_sync, secret } = row;
  const { last_checked, last_synced, error, record_count, last_run } = state;
  return {
    name,
    provider: provider.name,
    file: feedPath(name),
    media_store,
    interval_minutes,
    status: statusOf(state, isSyncing),
    last_checked,
    last_synced,
    next_sync,
    error,
    record_count,
    last_run: last_run === null ? null : { ...last_run, skipped: [...last_run.skipped] },
    searchable_in: [...searchableIn],
    settings: { ...provider.settings },
    has_secret: secret !== null,
  };
}

const discoveredPage = named('DiscoveredPage', {
  url: Type.String(),
  title: Type.String(),
  depth: count('Links from a start URL'),
  found: oneOf(['start', 'link', 'sitemap']),
});

export const discovery = named('Discovery', {
  pages: Type.Array(discoveredPage, { maxItems: 200, description: 'The pages that would be read: the first 200' }),
  left_out: Type.Array(object({ url: Type.String(), why: Type.String() }), {
    description: 'What was met and would not be read',
  }),
  complete: Type.Boolean({ description: 'False: there is more, or something could not be read' }),
});

export const sourcePath = Type.String({
  minLength: 1,
  maxLength: 1024,
  description: 'Path of the file in its media store: `.sync`, `.ndjson`, `.jsonl`, `.json` or `.csv`',
  examples: ['exports/films.csv'],
});

export const keepInSync = Type.Boolean({
  description:
    'Whether the list follows the file: each change is applied. Default true; false: only when it is asked for',
});

export const sourceResource = named('FeedOfList', {
  list: listName,
  media_store: storeName,
  path: sourcePath,
  feed: nullable(feedName, { description: 'The feed whose file it is; null for another file' }),
  keep_in_sync: keepInSync,
  status: oneOf(['Waiting for first import', 'Importing', 'Imported', 'Failed']),
  last_imported: nullable(timeSchema('When the list was last made to match the file')),
  error: nullable(failure, { description: 'Error of the last import, if it failed' }),
  last_run: nullable(
    object({
      added: count('Records that are new'),
      changed: count('Records that differed'),
      removed: count('Records that the file has no more'),
      unchanged: count('Records that were as the file has them, and were not written'),
      failed: count('Records of the file that were refused'),
      errors: Type.Array(
        object({
          line: count('Line of the file'),
          name: nullable(Type.String()),
          detail: Type.String({ description: 'What was wrong' }),
        }),
        { description: 'The first 20' },
      ),
      took_ms: count('Milliseconds'),
    }),
    { description: 'Figures of the last import that succeeded' },
  ),
});

export function describeSource(row: SourceRow, isImporting: boolean): Static<typeof sourceResource> {
  const { list, media_store, path, feed, keep_in_sync, last_imported, error, last_run } = row;
  return {
    list,
    media_store,
    path,
    feed: feed === null ? null : path.replace(/^feeds\/|\.sync$/g, ''),
    keep_in_sync,
    status: isImporting
      ? 'Importing'
      : error !== null
        ? 'Failed'
        : last_run === null
          ? 'Waiting for first import'
          : 'Imported',
    last_imported,
    error,
    last_run: last_run === null ? null : { ...last_run, errors: [...last_run.errors] },
  };
}
