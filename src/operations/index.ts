export * from './operation.js';
export * from './services.js';
export { createDispatcher, type Credential, type Dispatcher, type PathParams } from './dispatch.js';
export { openApiDocument } from './openapi.js';
export { decodePathText } from './query-string.js';
export { searchSettings } from './list-access.js';
export { operations } from './registry.js';
export { systemOperations } from './system.js';
export { createValidator, isStreamBody, parseJson, type RawInput } from './validation.js';
