/**
 * Process that only reads untrusted documents: it can open no file except the program's, and is given the bytes to
 * read. A fault in the library may corrupt memory, so the process ends after one, and another takes its place.
 */
import { serveHost } from '../platform/hosts/serve-host.js';
import type { DocumentProtocol } from './document-protocol.js';
import { Pdfium } from './pdfium.js';
import { readDocument } from './read-document.js';
import { DocumentError } from './types.js';

serveHost<DocumentProtocol>(() => {
  const loading = Pdfium.load();
  return {
    answers: {
      ready: async () => {
        await loading;
        return null;
      },
      read: async ({ bytes, limits }) => {
        const pdfium = await loading;
        try {
          return readDocument(pdfium, bytes, limits);
        } catch (error) {
          if (error instanceof DocumentError) return { fault: error.fault, message: error.message };
          process.exit(1);
        }
      },
    },
    notices: {},
  };
});
