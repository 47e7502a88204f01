export * from './types.js';
export { openCatalog } from './catalog.js';
export { CollectionStore, compositeKey, type Change, type Collection } from './collection.js';
export { currentMembers, GROUP_VERSIONS_MAX } from './group-versions.js';
