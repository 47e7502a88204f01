export * from './types.js';
export { openCatalog } from './catalog.js';
export { accountsIn, assertAccount } from './account-assertion.js';
export {
  CollectionStore,
  compositeKey,
  prefixOf,
  type Change,
  type Collection,
  type StoreListener,
} from './collection.js';
export type { GroupedBy } from './groups-of-entries.js';
export { currentMembers, GROUP_VERSIONS_MAX, presentMembers } from './group-versions.js';
export { lostSecrets, type SealedEntries } from './lost-secrets.js';
export { versionCurrentEvent } from './catalog-events.js';
export { fieldEvents } from './field-events.js';
export { UnreadableCatalogue } from './unreadable-catalogue.js';
