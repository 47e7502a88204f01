/** The write side of lists: segments, manifests, versions, merging, recovery. */
export * from './contract/types.js';
export type { RecordQuota, RecordsTaken } from './contract/record-quota.js';
export * from './segments/kernel-layout.js';
export { missingSegments } from './lists/missing-segments.js';
export { namedSegmentFiles } from './segments/segment-files.js';
export * from './contract/ingest-tasks.js';
export * from './ingest-handlers.js';
export type { CatalogueEntry } from './lists/entry-keeper.js';
export { adoptLists, type AdoptedList, type AdoptionReport } from './lists/list-adoption.js';
export {
  hasLists,
  listFolder,
  listsFolder,
  listStores,
  unknownListNames,
  unknownListsFolder,
} from './lists/list-folders.js';
export { ListRoom, listsOpenMax, listsThatFit } from './lists/list-room.js';
export { createListIndexes } from './lists/list-indexes.js';
export type { ListIndexesOptions } from './lists/list-indexes-options.js';
