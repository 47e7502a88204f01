/** Models: how they are stored, and how each kind is called. */
export { ChatModel, type ChatAsk, type ChatMessage } from './chat.js';
export * from './embedder.js';
export { asModelError, ModelError, type ModelErrorOptions, type ModelFailure } from './model-error.js';
export { type Transcriber } from './transcription.js';
export { MODELS, TRANSCRIPTION_MODEL, type Models, type ModelState } from './models.js';
export * from './types.js';
