/** `/backup`: the data directory as of one moment, in a folder of the machine. */
import { Type } from 'typebox';
import { defineOperation, noParams, object, timeSchema } from '../operations/index.js';
import { BACKUPS } from './backups.js';

const KEPT_MAX = 10_000;

const made = object({
  path: Type.String({ description: 'Folder of the backup', examples: ['/srv/backups/20261122T081500Z'] }),
  made_utc: timeSchema('When it was begun'),
  lists: Type.Integer({ minimum: 0, description: 'In it' }),
  files: Type.Integer({ minimum: 0, description: 'In it' }),
  bytes: Type.Integer({ minimum: 0, description: 'Of all its files' }),
  bytes_shared: Type.Integer({
    minimum: 0,
    description: 'Of them, those that take no room of their own: files that never change have a second name in it',
  }),
  damaged: Type.Array(Type.String(), { description: 'Lists whose store could not be read, and is copied as it is' }),
  removed: Type.Array(Type.String(), { description: 'Folders of older backups, where only some are kept' }),
});

const create = defineOperation({
  name: 'backup.create',
  summary: 'Back up the data directory while it is searched and written',
  description:
    'Each list is in it as of one commit, whatever is written meanwhile; a backup that is not whole never has its name. Answers when all of it is on disk.',
  method: 'POST',
  path: '/backup',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  body: object({
    folder: Type.String({
      pattern: '^/',
      maxLength: 4096,
      description: 'Absolute path; each backup is a folder in it, named after its time',
      examples: ['/srv/backups'],
    }),
    keep: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: KEPT_MAX,
        description:
          'So many of the newest stay, this one among them, and older ones are removed once it is whole; default: all stay',
      }),
    ),
  }),
  responses: { 201: { description: 'The backup is whole', schema: made } },
  errors: ['conflict', 'storage-full', 'resources-exhausted'],
  async handle({ services }, { body: { folder, keep } }) {
    return { status: 201, body: await services.part(BACKUPS).make({ folder, keep }) };
  },
});

export const backupOperations = [create];
