/** Records of a list: codec, validation, and the databases of its store that hold them and their names. */
export * from './types.js';
export * from './iso-time.js';
export * from './record-parts.js';
export * from './record-codec.js';
export * from './string-member.js';
export * from './record-vectors.js';
export * from './record-input.js';
export * from './field-normaliser.js';
export * from './fitting-fields.js';
export * from './csv-text.js';
export * from './definition-inference.js';
export * from './record-batch.js';
export * from './record-packer.js';
export * from './record-words.js';
export * from './record-store.js';
export * from './record-store-cache.js';
