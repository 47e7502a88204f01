/** `/media-store`: the media stores of an account. */
import { Type } from 'typebox';
import {
  accountParams,
  defineOperation,
  nextOf,
  nextPage,
  object,
  pageQuery,
  wantedPage,
  type OperationContext,
} from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import { changedStore, describeStore, newStore, storeParams, storeResource } from './media-schemas.js';
import { MEDIA_STORES } from './media-stores.js';
import { storeKind, type StoreKind } from './store-kinds.js';
import { STORE_SETTINGS } from './store-settings.js';
import { DEFAULT_STORE, type StoreRow } from './types.js';
import { MEDIA_STORE_NOT_FOUND, STORE_IN_USE, STORE_UNAVAILABLE } from './media-problems.js';

const CALLERS = ['key', 'console', 'cli'] as const;

const ofStore = {
  path: '/media-store/{account}/{store}',
  callers: CALLERS,
  target: 'account',
  params: storeParams,
} as const;
const NOT_FOUND = [MEDIA_STORE_NOT_FOUND, 'invalid-name'] as const;

const list = defineOperation({
  name: 'media-store.list',
  summary: 'List the media stores of an account',
  method: 'GET',
  path: '/media-store/{account}',
  permission: 'media-store:read',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  query: pageQuery,
  responses: {
    200: {
      description: 'The stores: the built-in one first, then the others sorted by name',
      schema: object({ media_stores: Type.Array(storeResource, { description: 'The media stores' }), next: nextPage }),
    },
  },
  async handle(context, { params: { account }, query }) {
    const page = context.services.part(MEDIA_STORES).page(account, wantedPage(query));
    const told = await Promise.all(page.entries.map((row) => described(context, account, row)));
    return { status: 200, body: { media_stores: told, ...nextOf(page) } };
  },
});

const create = defineOperation({
  name: 'media-store.create',
  summary: 'Add a media store',
  description:
    'Adds a folder of the machine, or a bucket of a server that speaks the S3 protocol. Files that it already has become files of the store.',
  method: 'POST',
  path: '/media-store/{account}',
  permission: 'media-store:create',
  callers: CALLERS,
  target: 'account',
  params: accountParams,
  body: newStore,
  responses: { 201: { description: 'The store', schema: storeResource } },
  errors: ['invalid-name', 'name-exists', 'conflict', 'unprocessable', 'console-only', 'storage-full'],
  async handle(context, { params: { account }, body }) {
    const { services } = context;
    const { name, kind, ...given } = body;
    assertCallerMayName(context, kind);
    const settings = services.part(STORE_SETTINGS);
    const row = await services
      .part(MEDIA_STORES)
      .create(account, name, (id) => settings.created(account, id, kind, given));
    return { status: 201, body: await described(context, account, row) };
  },
});

const read = defineOperation({
  ...ofStore,
  name: 'media-store.read',
  summary: 'Read a media store',
  method: 'GET',
  permission: 'media-store:read',
  responses: { 200: { description: 'The store', schema: storeResource } },
  errors: NOT_FOUND,
  async handle(context, { params: { account, store } }) {
    const row = context.services.part(MEDIA_STORES).row(account, store);
    return { status: 200, body: await described(context, account, row) };
  },
});

const update = defineOperation({
  ...ofStore,
  name: 'media-store.update',
  summary: 'Change the location of a media store',
  description: 'Members that are not given keep their value. Files are not moved.',
  method: 'PUT',
  permission: 'media-store:update',
  body: changedStore,
  responses: { 200: { description: 'The store', schema: storeResource } },
  errors: [...NOT_FOUND, STORE_UNAVAILABLE, 'conflict', 'unprocessable', 'console-only', 'storage-full'],
  async handle(context, { params: { account, store }, body }) {
    const { services } = context;
    const stores = services.part(MEDIA_STORES);
    const known = stores.row(account, store);
    if (known !== undefined) assertCallerMayName(context, known.settings.kind);
    const row = await stores.update(account, store, (before) => services.part(STORE_SETTINGS).changed(before, body));
    return { status: 200, body: await described(context, account, row) };
  },
});

const remove = defineOperation({
  ...ofStore,
  name: 'media-store.delete',
  summary: 'Remove a media store',
  description:
    'Removes the store from the service. Its files remain in the folder or bucket. Refused (409) while the store is in use.',
  method: 'DELETE',
  permission: 'media-store:delete',
  responses: { 204: { description: 'The store was removed', schema: null } },
  errors: [...NOT_FOUND, 'unprocessable', STORE_IN_USE, 'storage-full'],
  async handle({ services }, { params: { account, store } }) {
    await services.part(MEDIA_STORES).delete(account, store);
    return { status: 204 };
  },
});

const check = defineOperation({
  ...ofStore,
  name: 'media-store.check',
  summary: 'Check the built-in media store against the disk',
  description:
    'Reads every file of the built-in media store, and compares it with the index of the store. Other stores have nothing to check (422).',
  method: 'POST',
  path: '/media-store/{account}/{store}/check',
  permission: 'media-store:read',
  callers: ['console', 'cli'],
  responses: {
    200: {
      description: 'The result of the check',
      schema: object({
        problems: Type.Array(Type.String(), { description: 'Differences that were found. Empty if there are none' }),
        unnamed_contents: Type.Integer({
          minimum: 0,
          description:
            'Number of stored contents that belong to no file; also listed as a problem. They take room, but nothing is lost',
        }),
      }),
    },
  },
  errors: [...NOT_FOUND, 'unprocessable'],
  async handle({ services }, { params: { account, store } }) {
    if (store !== DEFAULT_STORE) {
      throw new ServiceError('unprocessable', 'Only the built-in media store can be checked.');
    }
    const { problems, unnamed } = await services.part(MEDIA_STORES).builtIn(account).check();
    return { status: 200, body: { problems, unnamed_contents: unnamed } };
  },
});

/** Throws `console-only` for API keys: an access key must not be sent with one. */
function assertCallerMayName({ caller }: OperationContext, kind: StoreKind): void {
  if (caller.kind !== 'key' || storeKind(kind).secret === undefined) return;
  throw new ServiceError(
    'console-only',
    'Media stores that need an access key can only be added and changed on the console or the command line.',
  );
}

async function described({ services }: OperationContext, account: string, row: StoreRow | undefined) {
  const stores = services.part(MEDIA_STORES);
  const usage = await stores.usage(account, row);
  return describeStore(account, row, usage, row !== undefined && services.part(STORE_SETTINGS).hasSecret(row));
}

export const mediaStoreOperations = [list, create, read, update, remove, check];
