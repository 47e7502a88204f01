/** Models: what is kept of them, and how each kind of them is asked. */
export { ChatModel, type ChatAsk, type ChatMessage } from './chat.js';
export * from './embedder.js';
export { asModelError, ModelError, type ModelErrorOptions, type ModelFailure } from './model-error.js';
export { MODELS, type Models, type ModelState } from './models.js';
export * from './types.js';
