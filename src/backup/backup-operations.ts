/** Operations `/backup`: consistent copies of the data directory, in a folder of the machine or in a media store. */
import { Type } from 'typebox';
import { defineOperation, noParams, named, object, patterned, timeSchema } from '../operations/index.js';
import { MEDIA_STORE_NOT_FOUND, STORE_FULL, STORE_UNAVAILABLE } from '../media/index.js';
import { BACKUPS } from './backups-key.js';

const KEPT_MAX = 10_000;
const STORE_ERRORS = [MEDIA_STORE_NOT_FOUND, STORE_FULL, STORE_UNAVAILABLE] as const;

const FOLDER_WORDS = 'an absolute path, or media:STORE[/FOLDERS] for a place in a media store (a folder or a bucket)';
const folder = patterned('^(?:/|media:)', FOLDER_WORDS, {
  maxLength: 4096,
  description: `Where the backups are: ${FOLDER_WORDS}; each backup in it is named after its time`,
  examples: ['/srv/backups', 'media:nightly'],
});

const path = Type.String({
  description: 'Path of the backup, as `gannet restore` takes it',
  examples: ['/srv/backups/20261122T081500Z', 'media:nightly/20261122T081500Z'],
});

const account = Type.Optional(
  Type.String({ description: 'Account that has the media store; default: the configured account' }),
);

const made = named('Backup', {
  path,
  made_utc: timeSchema('When it was begun'),
  lists: Type.Integer({ minimum: 0, description: 'Number of lists in it' }),
  files: Type.Integer({ minimum: 0, description: 'Number of files in it' }),
  bytes: Type.Integer({ minimum: 0, description: 'Size of all its files' }),
  bytes_shared: Type.Integer({
    minimum: 0,
    description:
      'Of them, those that take no room of their own: files that never change have a second name in a folder, and what a media store has is not sent again',
  }),
  damaged: Type.Array(Type.String(), { description: 'Lists whose store could not be read, and is copied as it is' }),
  removed: Type.Array(Type.String(), { description: 'Older backups, where only some are kept' }),
});

const create = defineOperation({
  name: 'backup.create',
  summary: 'Back up the data directory while it is searched and written',
  description:
    'Each list is in it as of one commit, whatever is written meanwhile. An incomplete backup never has its final name. Answers when all of it is on disk.',
  method: 'POST',
  path: '/backup',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  body: object({
    folder,
    account,
    keep: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: KEPT_MAX,
        description:
          'Number of backups to keep, the new one included; older ones are removed once it is complete; default: all are kept',
      }),
    ),
  }),
  responses: { 201: { description: 'The backup is whole', schema: made } },
  errors: ['conflict', 'unprocessable', 'storage-full', 'resources-exhausted', ...STORE_ERRORS],
  async handle({ services, signal }, { body: { folder, account: of, keep } }) {
    const wanted = { folder, account: of ?? services.config.account.name, keep };
    return { status: 201, body: await services.part(BACKUPS).make(wanted, signal) };
  },
});

const list = defineOperation({
  name: 'backup.list',
  summary: 'List the backups of a folder or of a place in a media store',
  description:
    'Those that are whole, in the order in which they were made; one whose time is still to come was made while a clock was wrong, and comes before the others.',
  method: 'GET',
  path: '/backup',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  query: object({ folder, account }),
  responses: {
    200: {
      description: 'The backups',
      schema: object({
        backups: Type.Array(
          object({
            path,
            made_utc: timeSchema('When it was begun'),
            made_by: Type.String({ description: 'Release that made it' }),
            data_dir: Type.String({ description: 'Data directory that it is a backup of' }),
            lists: Type.Integer({ minimum: 0, description: 'Number of lists in it' }),
            files: Type.Integer({ minimum: 0, description: 'Number of files in it' }),
            bytes: Type.Integer({ minimum: 0, description: 'Size of all its files' }),
          }),
        ),
        unreadable: Type.Array(Type.String(), {
          description: 'Backups whose description is damaged, or of a format that this release does not know',
        }),
      }),
    },
  },
  errors: ['unprocessable', ...STORE_ERRORS],
  async handle({ services }, { query: { folder: of, account: whose } }) {
    return { status: 200, body: await services.part(BACKUPS).list(of, whose ?? services.config.account.name) };
  },
});

const check = defineOperation({
  name: 'backup.check',
  summary: 'Check that backups can be restored, without restoring them',
  description:
    'Of a place in a media store, or one backup there, every piece is read and compared with its checksum: each once, though many backups have it. ' +
    'Of a folder every file is there at its length, and databases are by their first pages; what else a file holds is not compared.',
  method: 'GET',
  path: '/backup/check',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  query: object({ folder, account }),
  responses: {
    200: {
      description: 'They were checked; what is wrong is told',
      schema: object({
        backups: Type.Array(
          object({
            path,
            made_utc: Type.Union([timeSchema('When it was begun'), Type.Null()], {
              description: 'Null if its description cannot be read',
            }),
            files: Type.Integer({ minimum: 0, description: 'Number of files in it' }),
            bytes: Type.Integer({ minimum: 0, description: 'Size of all its files' }),
            problem_count: Type.Integer({ minimum: 0, description: '0: it can be restored' }),
            problems: Type.Array(Type.String(), { description: 'The first problems' }),
          }),
        ),
        bytes_read: Type.Integer({ minimum: 0, description: 'Bytes that were read and compared' }),
      }),
    },
  },
  errors: ['unprocessable', ...STORE_ERRORS],
  async handle({ services, signal }, { query: { folder: of, account: whose } }) {
    const wanted = whose ?? services.config.account.name;
    return { status: 200, body: await services.part(BACKUPS).check(of, wanted, signal) };
  },
});

export const backupOperations = [create, list, check];
