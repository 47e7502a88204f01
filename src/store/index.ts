/** The store of a list: its environment, the list's state, the manifests of its indexes, and the paths of its files. */
export * from './list-files.js';
export * from './list-state.js';
export * from './list-store.js';
export * from './segment-manifest.js';
export * from './store-print.js';
