/** People as a feature: they sign in, and work on accounts in a role. */
import type { Feature } from '../operations/index.js';
import { OPENID_SETTINGS } from './openid-settings.js';

const LINK_WHILE_STOPPED = 'the link works when it runs';

export const people: Feature = {
  name: 'people',
  settings: OPENID_SETTINGS,
  events: {
    'contributor.added': { description: 'A person was added to the account' },
    'contributor.removed': { description: 'A person was removed from the account' },
  },
  commands: [
    {
      name: 'console link',
      group: 'sign in to the console in a browser',
      operation: 'contributor.link',
      begins: true,
      whileStopped: LINK_WHILE_STOPPED,
      print: async () => (await import('./people-text.js')).linkText,
    },
    {
      name: 'account list',
      group: 'create, list and delete accounts',
      operation: 'account.list',
      print: async () => (await import('./people-text.js')).accountsText,
    },
    { name: 'account create', operation: 'account.create', begins: true, arguments: ['name'], example: ['shop'] },
    { name: 'account delete', operation: 'account.delete', arguments: ['account'], example: ['shop'] },
    {
      name: 'contributor list',
      group: 'invite people to an account, and list, change and remove them',
      operation: 'contributor.list',
      print: async () => (await import('./people-text.js')).contributorsText,
    },
    {
      name: 'contributor invite',
      operation: 'contributor.create',
      begins: true,
      whileStopped: LINK_WHILE_STOPPED,
      arguments: ['email'],
      example: ['ada@example.com', '--role', 'viewer'],
    },
    {
      name: 'contributor change',
      operation: 'contributor.update',
      arguments: ['id'],
      example: ['01936f2e-8c5a-7000-8000-000000000000', '--role', 'editor'],
    },
    {
      name: 'contributor remove',
      operation: 'contributor.delete',
      arguments: ['id'],
      example: ['01936f2e-8c5a-7000-8000-000000000000'],
    },
  ],
  load: async () => (await import('./people-parts.js')).peopleParts,
};
