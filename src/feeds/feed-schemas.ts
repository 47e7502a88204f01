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
  description: `Interval between two syncs in minutes; default ${INTERVAL_MINUTES_DEFAULT}`,
});
export const mediaStore = Type.String({
  ...storeName,
  description: 'Name of the media store that the synced file is written to; default `default`, the built-in store',
});

const failure = named(
  'FeedFault',
  {
    message: Type.String({ description: 'What was wrong' }),
    at: timeSchema('Time of the failed attempt'),
  },
  { description: 'Why a sync or an import failed' },
);

const lastRun = named(
  'FeedRun',
  {
    added: count('Number of records that were added'),
    changed: count('Number of records that changed'),
    removed: count('Number of records that were removed'),
    unchanged: count('Number of records that did not change'),
    skipped: Type.Array(
      object({
        what: Type.String({ description: 'The page, item or record that was skipped' }),
        why: Type.String({ description: 'Why it was skipped' }),
      }),
      { description: 'What was skipped: the first 100' },
    ),
    requests: count('Number of requests to the source'),
    bytes: count('Bytes of its answers, uncompressed'),
    took_ms: count('Milliseconds that the run took'),
  },
  { description: 'Figures of a sync' },
);

export const feedResource = named(
  'Feed',
  {
    name: feedName,
    provider: oneOf(PROVIDERS, { description: 'Kind of the source' }),
    file: Type.String({ description: 'Path of the synced file in its media store', examples: ['feeds/news.sync'] }),
    media_store: storeName,
    interval_minutes: intervalMinutes,
    status: oneOf(['Waiting for first sync', 'Syncing', 'Synced', 'Failed'], {
      description: 'State of the feed: no sync has begun yet, a sync is running, or how the last sync ended',
    }),
    last_checked: nullable(
      timeSchema('Time of the last attempt to sync, whatever its outcome. Null if there was none'),
    ),
    last_synced: nullable(timeSchema('Time of the last successful sync. Null if there was none')),
    next_sync: nullable(timeSchema('Time at which the next sync is due'), {
      description: 'Time at which the next sync is due. Null: it starts as soon as the service has room for it',
    }),
    error: nullable(failure, { description: 'Error of the last attempt. Null if it did not fail' }),
    record_count: count('Number of records in the synced file'),
    last_run: nullable(lastRun, { description: 'Figures of the last successful sync. Null if there was none' }),
    searchable_in: Type.Array(listName, { description: 'Names of the lists that contain the records of the feed' }),
    settings: Type.Record(Type.String(), Type.Unknown(), {
      description: 'Settings of the provider with their defaults, without secrets',
    }),
    has_secret: Type.Boolean({ description: 'Whether the source is read with a secret. The secret is never returned' }),
  },
  { description: 'A feed: an outside source that is synced on a schedule into a file of a media store' },
);

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

const discoveredPage = named(
  'DiscoveredPage',
  {
    url: Type.String({ description: 'URL of the page' }),
    title: Type.String({ description: 'Title of the page' }),
    depth: count('Number of links between a start URL and the page'),
    found: oneOf(['start', 'link', 'sitemap'], {
      description: 'How the page was found: as a start URL, by a link, or in a sitemap',
    }),
  },
  { description: 'A page that a website feed would read' },
);

export const discovery = named(
  'Discovery',
  {
    pages: Type.Array(discoveredPage, { maxItems: 200, description: 'The pages that would be read: the first 200' }),
    left_out: Type.Array(
      object({
        url: Type.String({ description: 'The URL' }),
        why: Type.String({ description: 'Why it would not be read' }),
      }),
      {
        description: 'URLs that were found but would not be read',
      },
    ),
    complete: Type.Boolean({
      description: 'Whether this is everything. False if there are more pages, or if something could not be read',
    }),
  },
  { description: 'Preview of a website feed' },
);

export const sourcePath = Type.String({
  minLength: 1,
  maxLength: 1024,
  description:
    'Path of the file in its media store. It must end in `.sync`, `.ndjson`, `.jsonl`, `.json`, `.csv` or `.tsv`',
  examples: ['exports/films.csv'],
});

export const keepInSync = Type.Boolean({
  description:
    'Whether each change of the file is imported automatically; default true. False: the file is only imported on request',
});

export const sourceResource = named(
  'FeedOfList',
  {
    list: listName,
    media_store: storeName,
    path: sourcePath,
    feed: nullable(feedName, { description: 'Name of the feed whose file it is. Null for another file' }),
    keep_in_sync: keepInSync,
    status: oneOf(['Waiting for first import', 'Importing', 'Imported', 'Failed'], {
      description: 'State of the import: none has begun yet, one is running, or how the last one ended',
    }),
    last_imported: nullable(timeSchema('Time of the last successful import. Null if there was none')),
    error: nullable(failure, { description: 'Error of the last import. Null if it did not fail' }),
    last_run: nullable(
      object({
        added: count('Number of records that were added'),
        changed: count('Number of records that were changed'),
        removed: count('Number of records that were removed, because the file no longer has them'),
        unchanged: count('Number of records that already matched the file, and were not written'),
        failed: count('Number of records of the file that were refused'),
        errors: Type.Array(
          object({
            line: count('Line of the file, from 1'),
            name: nullable(Type.String(), { description: 'Name of the record. Null if it could not be read' }),
            detail: Type.String({ description: 'What was wrong' }),
          }),
          { description: 'The first 20 records that were refused' },
        ),
        took_ms: count('Milliseconds that the run took'),
      }),
      { description: 'Figures of the last successful import. Null if there was none' },
    ),
  },
  { description: 'The file that a list imports, and the state of the import' },
);

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
