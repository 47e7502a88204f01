/** The record store of a list: codec, validation and the LMDB environment that holds records, names, manifest and deletions. */
export * from './types.js';
export * from './list-state.js';
export * from './record-codec.js';
export * from './record-vectors.js';
export * from './record-input.js';
export * from './field-normaliser.js';
export * from './definition-inference.js';
export * from './segment-manifest.js';
export * from './record-store.js';
export * from './record-store-cache.js';
