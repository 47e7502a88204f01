/**
 * A process that reads documents of others and nothing else: it may open no file but the program's, and what it reads is given to it.
 * After a fault of the library its memory is in doubt, so the process ends, and another one takes its place.
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
