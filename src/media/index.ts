/** Media stores: where the files of accounts are, whatever holds them. */
export * from './media-store.js';
export { MEDIA_STORES, MediaStores, type StoreUser } from './media-stores.js';
export { pathFault } from './media-path.js';
