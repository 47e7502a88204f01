/**
 * Vectors that are kept with the records of a list: their encoding, their databases in its store, and the queue of what
 * is still to be embedded.
 */
export * from './embedder.js';
export * from './list-models.js';
export * from './picture-embedder.js';
export * from './vector-codec.js';
export * from './record-text.js';
export * from './space-store.js';
export * from './embedding-work.js';
export * from './calibration.js';
export * from './built-in/model-name.js';
export { BuiltInModels } from './built-in/model-store.js';
export { learnModel, type LearnedModel, type TextModel } from './built-in/text-model.js';
export { TermMatrixBuilder, type MatrixLimits } from './built-in/term-matrix.js';
