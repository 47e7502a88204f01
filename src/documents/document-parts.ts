/** Opens the reader of documents: processes that are started when there is something to read. */
import { provide, type FeatureParts } from '../operations/index.js';
import { serviceKey, settingsOf } from '../platform/index.js';
import { DocumentReader } from './document-reader.js';
import { DOCUMENT_SETTINGS } from './settings.js';

/** Key by which other features find the reader. */
export const DOCUMENTS = serviceKey<DocumentReader>('documents');

const SECOND_MS = 1000;

export const documentParts: FeatureParts = {
  operations: [],
  open({ config, log }) {
    const settings = settingsOf(config, DOCUMENT_SETTINGS);
    const reader = new DocumentReader({
      processes: settings.processes,
      memoryMibMax: settings.memory_mib_max,
      limits: {
        pagesMax: settings.pages_max,
        charactersMax: settings.characters_max,
        msMax: settings.seconds_max * SECOND_MS,
      },
      onDeath: (error) => {
        log.info({ reason: error.message }, 'A process that reads documents ended; starting a new one');
      },
      onBug: (stack) => {
        log.error({ stack }, 'A process that reads documents failed because of a bug');
      },
    });
    return { parts: [provide(DOCUMENTS, reader)], close: () => reader.close() };
  },
};
