/** People as a feature: they sign in, and work on accounts in a role. */
import type { Feature } from '../operations/index.js';

export const people: Feature = {
  name: 'people',
  events: {
    'contributor.added': { description: 'A contributor is added to the account' },
    'contributor.removed': { description: 'A contributor is removed from the account' },
  },
  commands: [
    {
      name: 'console link',
      operation: 'contributor.link',
      print: async () => (await import('./people-text.js')).linkText,
    },
    {
      name: 'account list',
      operation: 'account.list',
      print: async () => (await import('./people-text.js')).accountsText,
    },
    { name: 'account create', operation: 'account.create', arguments: ['name'] },
    { name: 'account delete', operation: 'account.delete', arguments: ['account'] },
    {
      name: 'contributor list',
      operation: 'contributor.list',
      print: async () => (await import('./people-text.js')).contributorsText,
    },
    { name: 'contributor invite', operation: 'contributor.create', arguments: ['email'] },
    { name: 'contributor change', operation: 'contributor.update', arguments: ['id'] },
    { name: 'contributor remove', operation: 'contributor.delete', arguments: ['id'] },
  ],
  load: async () => (await import('./people-parts.js')).peopleParts,
};
