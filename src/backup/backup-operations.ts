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
  description: `Folder of the backups: ${FOLDER_WORDS}. Each backup in it is named after the time of its start`,
  examples: ['/srv/backups', 'media:nightly'],
});

const path = Type.String({
  description: 'Path of the backup, as `gannet restore` takes it',
  examples: ['/srv/backups/20261122T081500Z', 'media:nightly/20261122T081500Z'],
});

const account = Type.Optional(
  Type.String({ description: 'Account that has the media store; default: the configured account' }),
);

const made = named(
  'Backup',
  {
    path,
    made_utc: timeSchema('Time at which the backup was begun'),
    lists: Type.Integer({ minimum: 0, description: 'Number of lists in the backup' }),
    files: Type.Integer({ minimum: 0, description: 'Number of files in the backup' }),
    bytes: Type.Integer({ minimum: 0, description: 'Size of all files in bytes' }),
    bytes_shared: Type.Integer({
      minimum: 0,
      description:
        'How many of `bytes` take no additional room: in a folder, files that never change are hard links; in a media store, pieces that it already has are not sent again',
    }),
    damaged: Type.Array(Type.String(), {
      description: 'Lists whose data could not be read, and were copied as they are',
    }),
    removed: Type.Array(Type.String(), { description: 'Older backups that were removed because of `keep`' }),
  },
  { description: 'A backup that was made' },
);

const create = defineOperation({
  name: 'backup.create',
  summary: 'Back up the data directory',
  description:
    'Backs up the data directory while it is searched and written. The backup contains each list as of one commit, whatever is written meanwhile. An incomplete backup never has its final name. The answer comes when the whole backup is on disk.',
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
          'Number of backups to keep, including the new one. Older ones are removed when the new one is complete. Default: all are kept',
      }),
    ),
  }),
  responses: { 201: { description: 'The backup is complete', schema: made } },
  errors: ['conflict', 'unprocessable', 'storage-full', 'resources-exhausted', ...STORE_ERRORS],
  async handle({ services, signal }, { body: { folder, account: of, keep } }) {
    const wanted = { folder, account: of ?? services.config.account.name, keep };
    return { status: 201, body: await services.part(BACKUPS).make(wanted, signal) };
  },
});

const list = defineOperation({
  name: 'backup.list',
  summary: 'List the backups in a folder or media store',
  description:
    'Lists the complete backups, in order of creation. A backup whose time is in the future was made while the clock was wrong, and comes before the others.',
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
            made_utc: timeSchema('Time at which the backup was begun'),
            made_by: Type.String({ description: 'Release of Gannet that made the backup' }),
            data_dir: Type.String({ description: 'Path of the data directory that was backed up' }),
            lists: Type.Integer({ minimum: 0, description: 'Number of lists in the backup' }),
            files: Type.Integer({ minimum: 0, description: 'Number of files in the backup' }),
            bytes: Type.Integer({ minimum: 0, description: 'Size of all files in bytes' }),
          }),
          { description: 'The backups' },
        ),
        unreadable: Type.Array(Type.String(), {
          description: 'Paths of backups whose description is damaged, or has a format that this release does not know',
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
  summary: 'Check that backups can be restored',
  description:
    'Checks all backups of a folder or media store, or one backup, without restoring them. In a media store, every piece is read and compared with its checksum, once even if several backups have it. ' +
    'In a folder, every file must exist with its length, and databases must begin with valid pages; the other content of the files is not compared.',
  method: 'GET',
  path: '/backup/check',
  permission: null,
  callers: ['cli'],
  target: 'none',
  params: noParams,
  query: object({ folder, account }),
  responses: {
    200: {
      description: 'The result of the check, which may have found problems',
      schema: object({
        backups: Type.Array(
          object({
            path,
            made_utc: Type.Union([timeSchema('Time at which the backup was begun'), Type.Null()], {
              description: 'Time at which the backup was begun. Null if its description cannot be read',
            }),
            files: Type.Integer({ minimum: 0, description: 'Number of files in the backup' }),
            bytes: Type.Integer({ minimum: 0, description: 'Size of all files in bytes' }),
            problem_count: Type.Integer({
              minimum: 0,
              description: 'Number of problems. 0 if the backup can be restored',
            }),
            problems: Type.Array(Type.String(), { description: 'The first problems that were found' }),
          }),
          { description: 'The backups that were checked' },
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
