/** Media stores: where the files of accounts are, whatever holds them. */
export * from './media-store.js';
export { MEDIA_STORES, MediaStores, type StoreUser } from './media-stores.js';
export { pathFault } from './media-path.js';
export { MEDIA_STORE_NOT_FOUND } from './media-problems.js';
