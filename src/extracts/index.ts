/**
 * Contents of the files that records link to, kept once per URL in the list's store, and the queues of what is still to
 * be read.
 */
export {
  hashOfText,
  hasContent,
  hasText,
  keyOfFile,
  NO_EXTRACTS,
  type ExtractFault,
  type ExtractFigures,
  type ExtractRow,
  type ExtractState,
  type FailedExtract,
} from './extract-row.js';
export { ExtractStore, extractStore, type PageOfDocument } from './extract-store.js';
export * from './file-reader.js';
export * from './linked-files.js';
export { type PageRange } from './page-codec.js';
export { type PackedDocuments } from './page-packer.js';
export { NO_PAGE, PAGE_DEFLATED, PAGE_PLAIN, textOfPage, type PagePacking, type StoredPage } from './page-row-codec.js';
export * from './reading-work.js';
export * from './seen-files.js';
export { textOfPassage } from './timed-text.js';
