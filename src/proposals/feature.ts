/** Proposals as a feature: synonym rules suggested by a list's searches and records. */
import type { Feature } from '../operations/index.js';
import { PROPOSAL_SETTINGS } from './proposal-settings.js';

export const proposals: Feature = {
  name: 'proposals',
  settings: PROPOSAL_SETTINGS,
  commands: [
    {
      name: 'synonym suggest',
      group: 'propose synonym rules for a list',
      operation: 'synonym.suggest',
      arguments: ['list'],
      example: ['books'],
      print: async () => (await import('./proposal-text.js')).suggestionText,
    },
  ],
  load: async () => (await import('./proposal-parts.js')).proposalParts,
};
