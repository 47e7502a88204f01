/** The operations of `/list/…/source`: what a list imports from, which is a feed or any file of a media store. */
import { Type } from 'typebox';
import { MEDIA_STORE_NOT_FOUND } from '../media/index.js';
import { defineOperation, object, requireList, type OperationContext } from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import { ALREADY_IMPORTING, FEED_IN_USE, FEED_NOT_FOUND, FEED_SYNCING, NO_SOURCE } from './feed-problems.js';
import {
  DEFAULT_STORE,
  describeSource,
  feedName,
  keepInSync,
  mediaStore,
  sourceParams,
  sourcePath,
  sourceResource,
} from './feed-schemas.js';
import { FEEDS } from './part.js';
import type { SourceRow } from './types.js';

const CALLERS = ['key', 'console', 'cli'] as const;
const ofList = { callers: CALLERS, target: 'list', params: sourceParams } as const;
/** A key for the list alone has no access to the feeds and files of the account. */
const ofAccount = { ...ofList, needsWholeAccount: true } as const;
const sourceStore = Type.String({
  ...mediaStore,
  description: 'Name of the media store that has the file; default `default`, the built-in store',
});
const shown = (description: string) => ({ description, schema: sourceResource });

/** A caller who makes a list import a file can read the file in the list, and so needs the permission to read files. */
function assertReadsFiles({ caller }: OperationContext): void {
  if (caller.can('media:read')) return;
  throw new ServiceError('missing-permission', 'Importing a file of a media store needs the permission media:read.');
}

function describe({ services }: OperationContext, row: SourceRow) {
  return describeSource(row, services.part(FEEDS).sources.isImporting(row));
}

const bind = defineOperation({
  ...ofAccount,
  name: 'list.feed',
  summary: 'Make a feed searchable in a list',
  description:
    'Imports the records of the feed into the list, now and after each sync. A list without fields gets the fields that the feed describes. If the feed has not been synced yet, its first sync fills the list. A feed can be searchable in only one list.',
  method: 'POST',
  path: '/list/{account}/{list}/feed',
  permission: 'feed:update',
  body: object({ feed: feedName }),
  responses: { 201: shown('What the list imports from, and the state of the import') },
  errors: [
    'list-not-found',
    FEED_NOT_FOUND,
    MEDIA_STORE_NOT_FOUND,
    FEED_SYNCING,
    ALREADY_IMPORTING,
    FEED_IN_USE,
    'storage-full',
  ],
  async handle(context, { params: { account, list }, body }) {
    const { feeds } = context.services.part(FEEDS);
    const row = await feeds.bind(feeds.required(account, body.feed), requireList(context.services, account, list));
    return { status: 201, body: describe(context, row) };
  },
});

const create = defineOperation({
  ...ofAccount,
  name: 'list.source-create',
  summary: 'Import a file of a media store into a list',
  description:
    'Makes the records of the list match the file; with `keep_in_sync`, also after each change of the file. Records that are equal are not written. Records that the file no longer has are removed if they came from this file. Each record of the file must have a name. A key also needs the permission `media:read`.',
  method: 'POST',
  path: '/list/{account}/{list}/source',
  permission: 'list:update',
  body: object({ media_store: Type.Optional(sourceStore), path: sourcePath, keep_in_sync: Type.Optional(keepInSync) }),
  responses: { 201: shown('What the list imports from, and the state of the import') },
  errors: ['list-not-found', MEDIA_STORE_NOT_FOUND, ALREADY_IMPORTING, FEED_IN_USE, 'unprocessable', 'storage-full'],
  async handle(context, { params: { account, list: name }, body }) {
    const { services } = context;
    const { media_store = DEFAULT_STORE, path, keep_in_sync = true } = body;
    assertReadsFiles(context);
    const list = requireList(services, account, name);
    const row = await services.part(FEEDS).feeds.bindFile(list, { media_store, path, keep_in_sync });
    return { status: 201, body: describe(context, row) };
  },
});

const read = defineOperation({
  ...ofList,
  name: 'list.source',
  summary: 'Read what a list imports from',
  method: 'GET',
  path: '/list/{account}/{list}/source',
  permission: 'list:read',
  responses: { 200: shown('What the list imports from, and the state of the import') },
  errors: [NO_SOURCE],
  handle: (context, { params: { account, list } }) => ({
    status: 200,
    body: describe(context, required(context, account, list)),
  }),
});

const update = defineOperation({
  ...ofList,
  name: 'list.source-update',
  summary: 'Change whether a list is kept in sync with its file',
  method: 'PUT',
  path: '/list/{account}/{list}/source',
  permission: 'list:update',
  body: object({ keep_in_sync: keepInSync }),
  responses: { 200: shown('What the list imports from, and the state of the import') },
  errors: [NO_SOURCE, 'storage-full'],
  async handle(context, { params: { account, list }, body }) {
    const row = required(context, account, list);
    const changed = await context.services.part(FEEDS).sources.keepInSync(row, body.keep_in_sync);
    return { status: 200, body: describe(context, changed) };
  },
});

const remove = defineOperation({
  ...ofList,
  name: 'list.source-delete',
  summary: 'Stop a list from importing',
  description: 'The list keeps its records, but is no longer updated.',
  method: 'DELETE',
  path: '/list/{account}/{list}/source',
  permission: 'list:update',
  responses: { 204: { description: 'The list no longer imports a file', schema: null } },
  errors: [NO_SOURCE, 'storage-full'],
  async handle(context, { params: { account, list } }) {
    const { list_id } = required(context, account, list);
    await context.services.part(FEEDS).sources.disconnect(list_id);
    return { status: 204 };
  },
});

const run = defineOperation({
  ...ofList,
  name: 'list.source-run',
  summary: 'Run the import of a list now',
  method: 'POST',
  path: '/list/{account}/{list}/source/run',
  permission: 'list:update',
  responses: { 202: shown('What the list imports from, and the state of the import') },
  errors: [NO_SOURCE],
  handle(context, { params: { account, list } }) {
    const row = required(context, account, list);
    context.services.part(FEEDS).sources.run(row);
    return { status: 202, body: describe(context, row) };
  },
});

function required({ services }: OperationContext, account: string, list: string): SourceRow {
  return services.part(FEEDS).sources.required(requireList(services, account, list));
}

export const sourceOperations = [bind, create, read, update, remove, run];
