/** The feature of backups: the whole data directory as of one moment, while it is searched and written. */
import type { Feature } from '../operations/index.js';

export const backup: Feature = {
  name: 'backup',
  commands: [
    {
      name: 'backup',
      operation: 'backup.create',
      arguments: ['folder'],
      paths: ['folder'],
      unclear: async () => (await import('./unclear-folder.js')).unclearFolder,
      example: ['/srv/backups', '--keep', '7'],
      print: async () => (await import('./backup-text.js')).backupText,
    },
    {
      name: 'backup list',
      operation: 'backup.list',
      arguments: ['folder'],
      paths: ['folder'],
      unclear: async () => (await import('./unclear-folder.js')).unclearAccount,
      example: ['media:nightly'],
      alone: async () => (await import('./folder-backups.js')).listedAlone,
      print: async () => (await import('./backup-text.js')).backupsText,
    },
    {
      name: 'backup check',
      operation: 'backup.check',
      arguments: ['folder'],
      paths: ['folder'],
      unclear: async () => (await import('./unclear-folder.js')).unclearAccount,
      example: ['media:nightly'],
      alone: async () => (await import('./folder-backups.js')).checkedAlone,
      print: async () => (await import('./backup-text.js')).checkedText,
      hasFailed: async () => (await import('./backup-text.js')).isAnyDamaged,
    },
  ],
  load: async () => (await import('./backup-parts.js')).backupParts,
};
