/** Files that records link to, as a feature: they are fetched, read, and checked again. */
import type { Feature } from '../operations/index.js';
import { RESOURCE_SETTINGS } from './settings.js';

export const resources: Feature = {
  name: 'resources',
  settings: RESOURCE_SETTINGS,
  commands: [
    {
      name: 'resource refresh',
      group: 'files that records link to: read them again, or show their text',
      operation: 'list.resources-refresh',
      whileStopped: 'the files are read when it runs',
      arguments: ['list'],
      example: ['reports', '--failed', 'true'],
    },
    {
      name: 'resource text',
      operation: 'search-result.document-text',
      arguments: ['list', 'record'],
      example: ['reports', 'annual.pdf'],
      print: async () => (await import('./resource-text.js')).documentText,
    },
  ],
  load: async () => (await import('./resource-parts.js')).resourceParts,
};
