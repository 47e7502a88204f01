/** Media stores: files of accounts, in any kind of storage. */
export * from './media-store.js';
export { MEDIA_STORES, MediaStores, type StoreUser } from './media-stores.js';
export { BLOBS_FOLDER, INCOMING_FOLDER } from './built-in/blob-folder.js';
export { listedPages } from './listed-pages.js';
export { APART, pathFault } from './media-path.js';
export { CallsOfDisks } from './folder/folder-disks.js';
export { PARTS_FOLDER } from './parts-folder.js';
export { UploadSlots } from './s3/upload-slots.js';
export { FILE_NOT_FOUND, MEDIA_STORE_NOT_FOUND, STORE_FULL, STORE_UNAVAILABLE } from './media-problems.js';
