/** Text of documents, page by page. */
export * from './types.js';
export { DOCUMENTS } from './document-parts.js';
export { DocumentReader, type DocumentReaderOptions } from './document-reader.js';
export { DOCUMENT_SETTINGS, type DocumentSettings } from './settings.js';
