/** The write side of lists: segments, manifest, versions, merging, recovery. */
export * from './types.js';
export * from './kernel-layout.js';
export * from './ingest-tasks.js';
export * from './ingest-handlers.js';
export type { CatalogueEntry } from './entry-keeper.js';
export { adoptLists, type AdoptedList, type AdoptionReport } from './list-adoption.js';
export { hasLists, listFolder, listsFolder, unknownListNames, unknownListsFolder } from './list-folders.js';
export { ListRoom, listsThatFit } from './list-room.js';
export { createListIndexes, type ListIndexesOptions } from './list-indexes.js';
