/** What was read of the files that records link to: kept once for each URL in the list's store, with what is still to be read. */
export * from './extract-store.js';
export * from './file-reader.js';
export * from './linked-files.js';
export { unpackedPage, type PageRange } from './page-codec.js';
export * from './reading-work.js';
export * from './seen-files.js';
export { textOfPassage } from './timed-text.js';
