/** Documents as a feature: reading untrusted PDF files. */
import type { Feature } from '../operations/index.js';
import { DOCUMENT_SETTINGS } from './settings.js';

export const documents: Feature = {
  name: 'documents',
  settings: DOCUMENT_SETTINGS,
  load: async () => (await import('./document-parts.js')).documentParts,
};
