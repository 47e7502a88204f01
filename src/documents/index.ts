/** Text of documents, page by page. */
export * from './types.js';
export { DocumentReader, type DocumentReaderOptions } from './document-reader.js';
