/** Operations `/feed`: outside sources that are kept current in files of media stores. */
import { Type, type Static } from 'typebox';
import { MEDIA_STORE_NOT_FOUND, STORE_FULL, STORE_UNAVAILABLE } from '../media/index.js';
import {
  accountParams,
  CONTENT_BODY_BYTES_MAX,
  defineOperation,
  nextOf,
  nextPage,
  object,
  oneOf,
  pageQuery,
  wantedPage,
  type OperationContext,
} from '../operations/index.js';
import { Secret, ServiceError, withSignal, type OutboundRules } from '../platform/index.js';
import type { WebsiteSettings } from './crawl/crawl-types.js';
import { FEED_NOT_FOUND, FEED_SYNCING, SOURCE_UNUSABLE } from './feed-problems.js';
import {
  DEFAULT_STORE,
  describeFeed,
  discovery,
  feedName,
  feedParams,
  feedResource,
  INTERVAL_MINUTES_DEFAULT,
  intervalMinutes,
  mediaStore,
} from './feed-schemas.js';
import { FEEDS } from './part.js';
import { PROVIDER_SETTINGS, readProvider, readWebsite, websiteSettings } from './provider-schemas.js';
import { PROVIDERS, type ProviderName } from './providers/provider-settings.js';
import type { FeedRow } from './types.js';

const CALLERS = ['key', 'console', 'cli'] as const;
const CONSOLE_ONLY = ['console', 'cli'] as const;
/** Providers that keys may connect: they can be read without a secret, and keys may not send one. */
const OPEN_TO_KEYS: readonly ProviderName[] = ['website', 'api'];

const feedSecret = Type.String({
  minLength: 1,
  maxLength: 10_000,
  description:
    'For `api`: value of the header that `settings.auth_header` names. For `email`: password or token. It is stored encrypted and never returned',
});

const ofFeed = { target: 'account', params: feedParams, errors: [FEED_NOT_FOUND] } as const;
const shown = (description: string) => ({ description, schema: feedResource });

function describe({ services }: OperationContext, row: FeedRow) {
  const { feeds, sources } = services.part(FEEDS);
  return describeFeed(row, feeds.isSyncing(row), sources.listsOf(row));
}

function assertOpenToKey({ caller }: OperationContext, provider: ProviderName, hasSecret: boolean): void {
  if (caller.kind !== 'key' || (OPEN_TO_KEYS.includes(provider) && !hasSecret)) return;
  const what = hasSecret ? 'A feed with a secret' : `A feed of the provider ${provider}`;
  throw new ServiceError('console-only', `${what} can only be connected on the console or the command line.`);
}

const list = defineOperation({
  name: 'feed.list',
  summary: 'List the feeds of an account',
  description: 'Secrets are not returned.',
  method: 'GET',
  path: '/feed/{account}',
  permission: 'feed:read',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  query: pageQuery,
  responses: {
    200: {
      description: 'The feeds, sorted by name',
      schema: object({ feeds: Type.Array(feedResource, { description: 'The feeds' }), next: nextPage }),
    },
  },
  handle(context, { params, query }) {
    const page = context.services.part(FEEDS).feeds.page(params.account, wantedPage(query));
    return { status: 200, body: { feeds: page.entries.map((row) => describe(context, row)), ...nextOf(page) } };
  },
});

const read = defineOperation({
  ...ofFeed,
  name: 'feed.read',
  summary: 'Read a feed',
  method: 'GET',
  path: '/feed/{account}/{feed}',
  permission: 'feed:read',
  callers: CALLERS,
  responses: { 200: shown('The feed') },
  handle: (context, { params: { account, feed } }) => ({
    status: 200,
    body: describe(context, context.services.part(FEEDS).feeds.required(account, feed)),
  }),
});

const connect = defineOperation({
  name: 'feed.connect',
  summary: 'Connect a feed',
  description:
    'Reads the source once before the feed is created; a source that cannot be read is refused (422). The first sync begins at once. With an API key, only `website` feeds and `api` feeds without a secret can be connected; all others need the console or the command line.',
  method: 'POST',
  path: '/feed/{account}/connect',
  permission: 'feed:create',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: object({
    name: feedName,
    provider: oneOf(PROVIDERS, { description: 'Kind of the source' }),
    media_store: Type.Optional(mediaStore),
    interval_minutes: Type.Optional(intervalMinutes),
    settings: Type.Object(
      {},
      {
        additionalProperties: true,
        description:
          'Settings of the provider, such as `{"start_urls": ["https://example.com/"]}` for `website`. The schema is that of the provider: WebsiteSettings, RssSettings, ApiSettings, EmailSettings or MediaStoreSettings',
        examples: [{ start_urls: ['https://example.com/'] }],
        $defs: PROVIDER_SETTINGS,
      },
    ),
    secret: Type.Optional(Type.String({ ...feedSecret, minLength: 0 })),
  }),
  responses: { 201: shown('The new feed; its first sync is about to begin') },
  errors: [
    SOURCE_UNUSABLE,
    MEDIA_STORE_NOT_FOUND,
    STORE_UNAVAILABLE,
    'console-only',
    'invalid-name',
    'name-exists',
    'conflict',
    'unprocessable',
    'plan-limit',
    'overloaded',
    'storage-full',
  ],
  async handle(context, { params: { account }, body }) {
    const { services } = context;
    const { name, provider: kind, media_store = DEFAULT_STORE, interval_minutes = INTERVAL_MINUTES_DEFAULT } = body;
    const isSecretGiven = body.secret !== undefined && body.secret !== '';
    const hasHeader = Object.hasOwn(body.settings, 'auth_header') || Object.hasOwn(body.settings, 'password');
    assertOpenToKey(context, kind, isSecretGiven || hasHeader);
    const typed = isSecretGiven ? body.secret : undefined;
    const { provider, secret } = readProvider(kind, body.settings, typed, services.part(FEEDS).outbound);
    const given = { account, name, provider, media_store, interval_minutes, secret };
    const row = await withSignal(context.signal, (left) => services.part(FEEDS).feeds.connect(given, left));
    return { status: 201, body: describe(context, row) };
  },
});

/** The settings as in `connect`, or by themselves. */
const websiteBody = Type.Union([object({ settings: websiteSettings }), websiteSettings], {
  description: 'Settings of a website: as the member `settings`, or as the body itself',
});

function readWebsiteIn(body: Static<typeof websiteBody>, rules: OutboundRules): WebsiteSettings {
  return 'settings' in body ? readWebsite(body.settings, rules) : readWebsite(body, rules, '');
}

const discover = defineOperation({
  name: 'feed.discover',
  summary: 'Preview the pages that a website feed would read',
  description: 'Reads the website as a sync would, for at most 200 pages and 60 s. Nothing is saved.',
  method: 'POST',
  path: '/feed/{account}/web/discover',
  permission: 'feed:create',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: websiteBody,
  responses: { 200: { description: 'The pages that a feed would read', schema: discovery } },
  errors: [SOURCE_UNUSABLE, 'overloaded'],
  async handle({ services, signal }, { body }) {
    const settings = readWebsiteIn(body, services.part(FEEDS).outbound);
    const { feeds } = services.part(FEEDS);
    const found = await withSignal(signal, (left) => feeds.discover({ name: 'website', settings }, left));
    return { status: 200, body: found };
  },
});

const sync = defineOperation({
  ...ofFeed,
  name: 'feed.sync',
  summary: 'Sync a feed now',
  description: 'Starts a sync as soon as the service has room for it. Refused (409) while the feed is being synced.',
  method: 'POST',
  path: '/feed/{account}/{feed}/sync',
  permission: 'feed:sync',
  callers: CALLERS,
  responses: { 202: shown('The feed') },
  errors: [...ofFeed.errors, FEED_SYNCING, 'storage-full'],
  async handle(context, { params: { account, feed } }) {
    const { feeds } = context.services.part(FEEDS);
    const row = feeds.required(account, feed);
    await feeds.sync(row);
    return { status: 202, body: describe(context, row) };
  },
});

const interval = defineOperation({
  ...ofFeed,
  name: 'feed.interval',
  summary: 'Change how often a feed is synced',
  method: 'PUT',
  path: '/feed/{account}/{feed}/interval',
  permission: 'feed:update',
  callers: CALLERS,
  body: object({ interval_minutes: intervalMinutes }),
  responses: { 200: shown('The feed') },
  errors: [...ofFeed.errors, 'storage-full'],
  async handle(context, { params: { account, feed }, body }) {
    const { feeds } = context.services.part(FEEDS);
    const row = await feeds.setInterval(feeds.required(account, feed), body.interval_minutes);
    return { status: 200, body: describe(context, row) };
  },
});

const webScope = defineOperation({
  ...ofFeed,
  name: 'feed.web-scope',
  summary: 'Change which pages a website feed reads',
  description:
    'Replaces all settings of the website, and begins a sync at once, or as soon as the one that is under way has ended. It removes pages that are no longer in scope from the synced file.',
  method: 'PUT',
  path: '/feed/{account}/{feed}/web-scope',
  permission: 'feed:update',
  callers: CALLERS,
  bodyBytesMax: CONTENT_BODY_BYTES_MAX,
  body: websiteBody,
  responses: { 200: shown('The feed') },
  errors: [...ofFeed.errors, SOURCE_UNUSABLE, 'unprocessable', 'overloaded', 'storage-full'],
  async handle(context, { params: { account, feed }, body }) {
    const { feeds, outbound } = context.services.part(FEEDS);
    const row = feeds.required(account, feed);
    if (row.provider.name !== 'website')
      throw new ServiceError(
        'unprocessable',
        `The feed '${feed}' is of the provider ${row.provider.name}, not a website.`,
      );
    const settings = readWebsiteIn(body, outbound);
    const changed = await withSignal(context.signal, (left) => feeds.setScope(row, settings, left));
    return { status: 200, body: describe(context, changed) };
  },
});

const secret = defineOperation({
  ...ofFeed,
  name: 'feed.secret',
  summary: 'Replace the password or token of a feed',
  description:
    'Reads the source with the new secret first: if the source refuses it, the feed keeps the old one (422). Otherwise begins a sync at once, or as soon as the one that is under way has ended. Records, lists and the synced file stay.',
  method: 'PUT',
  path: '/feed/{account}/{feed}/secret',
  permission: 'feed:update',
  callers: CONSOLE_ONLY,
  body: object({ secret: feedSecret }),
  responses: { 200: shown('The feed') },
  errors: [...ofFeed.errors, SOURCE_UNUSABLE, 'unprocessable', 'overloaded', 'storage-full'],
  async handle(context, { params: { account, feed }, body }) {
    const { feeds } = context.services.part(FEEDS);
    const row = feeds.required(account, feed);
    const given = new Secret(body.secret);
    const changed = await withSignal(context.signal, (left) => feeds.setSecret(row, given, left));
    return { status: 200, body: describe(context, changed) };
  },
});

const move = defineOperation({
  ...ofFeed,
  name: 'feed.move',
  summary: 'Move a feed to another media store',
  description:
    'Moves the synced file to the other store, makes the lists that import it follow, deletes the old file, and runs both the sync and the imports again. If the feed is already there, nothing happens.',
  method: 'POST',
  path: '/feed/{account}/{feed}/move',
  permission: 'feed:update',
  callers: CONSOLE_ONLY,
  body: object({ media_store: mediaStore }),
  responses: { 200: shown('The feed') },
  errors: [
    ...ofFeed.errors,
    FEED_SYNCING,
    MEDIA_STORE_NOT_FOUND,
    STORE_UNAVAILABLE,
    STORE_FULL,
    'unprocessable',
    'storage-full',
  ],
  async handle(context, { params: { account, feed }, body }) {
    const { feeds } = context.services.part(FEEDS);
    const row = await feeds.move(feeds.required(account, feed), body.media_store);
    return { status: 200, body: describe(context, row) };
  },
});

const remove = defineOperation({
  ...ofFeed,
  name: 'feed.delete',
  summary: 'Delete a feed',
  description:
    'Deletes the feed and its synced file. A list that imports the file keeps its records, but is no longer updated. If the media store is out of reach, the files of the feed stay there.',
  method: 'DELETE',
  path: '/feed/{account}/{feed}',
  permission: 'feed:delete',
  callers: CONSOLE_ONLY,
  responses: { 204: { description: 'The feed was deleted', schema: null } },
  errors: [...ofFeed.errors, 'storage-full'],
  async handle({ services }, { params: { account, feed } }) {
    const { feeds } = services.part(FEEDS);
    await feeds.delete(feeds.required(account, feed));
    return { status: 204 };
  },
});

export const feedOperations = [list, read, connect, discover, sync, interval, webScope, secret, move, remove];
