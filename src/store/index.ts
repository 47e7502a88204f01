/** The store of a list: its environment, the state in it, the manifests of its indexes, and where its files are. */
export * from './list-files.js';
export * from './list-state.js';
export * from './list-store.js';
export * from './segment-manifest.js';
export * from './store-print.js';
