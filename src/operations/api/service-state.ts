/** `/service/state`: what an operator wants to know first, in one answer. */
import { Type } from 'typebox';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import { accountParams, named, nullable, object, timeSchema } from './schemas.js';

const TROUBLES_MAX = 200;
const bytes = (description: string) => Type.Integer({ minimum: 0, description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const trouble = named(
  'Trouble',
  {
    kind: Type.String({
      description: 'Kind of what does not work',
      examples: ['feed', 'webhook', 'meaning', 'list', 'source', 'sign-in', 'plan', 'queue', 'program'],
    }),
    account: Type.String({ description: 'Name of the account that it concerns. Empty if it concerns all accounts' }),
    name: Type.String({
      description: 'Name of the feed, list, queue or other thing that does not work; for a webhook, its URL',
    }),
    detail: Type.String({ description: 'What is wrong with it' }),
    since_utc: nullable(timeSchema('Time since which it has not worked. Null if it is not known')),
  },
  { description: 'Something that does not work' },
);

const state = named(
  'ServiceState',
  {
    release: Type.String({ description: 'Release of Gannet' }),
    node: Type.String({ description: 'Release of Node.js' }),
    process_id: Type.Integer({ description: 'Process id of the service' }),
    started_utc: timeSchema('Time at which the service was started'),
    uptime_seconds: count('Seconds since the service was started'),
    data_dir: Type.String({ description: 'Path of the data directory' }),
    disk: nullable(
      object({
        bytes: bytes('Size of the file system of the data directory'),
        free_bytes: bytes('Free bytes of the file system, for users other than root'),
        used: Type.Array(
          object({
            name: Type.String({ description: 'Name of a folder or file in the data directory' }),
            bytes: bytes(
              'Bytes that it takes on disk, with a file that has several names counted once; at most five minutes old',
            ),
          }),
          { description: 'What takes the room in the data directory, largest first. Empty until it has been measured' },
        ),
      }),
      { description: 'Room on the disk of the data directory. Null if the disk does not answer' },
    ),
    memory: object(
      {
        own_bytes: nullable(bytes('Memory that the process uses, without mapped files'), {
          description:
            'Memory that the process uses, in bytes, without mapped files. Null if the operating system does not tell it (others than Linux)',
        }),
        budget_bytes: bytes('Memory that the process may use, in bytes: the setting `memory.mib`'),
      },
      { description: 'Memory of the service' },
    ),
    lists: object(
      {
        all: count('Number of lists of all accounts'),
        open: count('Number of lists that are open. The others are opened when they are needed'),
        rebuilding: count('Number of lists whose index is being rebuilt, or waits to be'),
      },
      { description: 'Lists of the service' },
    ),
    waiting: Type.Array(
      object({
        name: Type.String({ description: 'Name of the queue' }),
        count: count('Number of tasks or webhook deliveries that wait'),
        max: nullable(count('Number that may wait before requests are refused'), {
          description:
            'Number that may wait before requests are refused. Null if no request is refused because of this queue',
        }),
      }),
      {
        description: 'Queues: tasks that wait for a thread, by kind, and webhook deliveries that wait or are set aside',
      },
    ),
    backup: object(
      {
        last: nullable(
          object({
            finished_utc: timeSchema('Time at which the backup was complete'),
            path: Type.String({ description: 'Path of the backup' }),
            bytes: bytes('Size of all its files in bytes'),
          }),
          {
            description:
              'The last backup of this data directory that `gannet backup` completed. Null if there is none. Snapshots of the file system are not known to the service',
          },
        ),
        failure: nullable(
          object({
            at_utc: timeSchema('Time at which the backup failed'),
            detail: Type.String({ description: 'Why the backup failed' }),
          }),
          {
            description: 'The last backup that failed after `last`. Null if none did',
          },
        ),
      },
      { description: 'Backups of this data directory' },
    ),
    databases: object(
      {
        unreadable: Type.Array(Type.String(), {
          description: 'Names of databases of webhooks, analytics and settings that cannot be read at the moment',
        }),
        set_aside: Type.Array(Type.String(), {
          description: 'Names of databases that were damaged, moved aside, and replaced by empty ones',
        }),
      },
      { description: 'Databases, other than those of lists, that have a problem' },
    ),
    troubles: Type.Array(trouble, {
      description: `What does not work, in all accounts: at most ${TROUBLES_MAX} entries`,
    }),
    trouble_count: count('Number of all things that do not work, even if there are more than `troubles` has'),
  },
  { description: 'State of the running service' },
);

export const serviceStateOperations: readonly Operation[] = [
  defineOperation({
    name: 'service.state',
    summary: 'Read the state of the service',
    description:
      'Returns the release, disk, memory, queues, the last backup, and what does not work: feeds and imports that failed, webhooks with deliveries that were set aside, models that fail, lists that cannot be opened, queues that are nearly full, and program files that were replaced while the service runs. ' +
      'Only the command line and owners of the first account (the one that the first start created) may read it; no API key may.',
    method: 'GET',
    path: '/service/state/{account}',
    permission: 'service:state',
    callers: ['console', 'cli'],
    target: 'account',
    params: accountParams,
    responses: { 200: { description: 'The present state of the service', schema: state } },
    async handle({ services }) {
      const [{ troubles, ...rest }, { unreadable, setAside }] = await Promise.all([
        services.state(),
        services.databases(),
      ]);
      const uptime = services.clock.nowMs() - Date.parse(rest.started_utc);
      return {
        status: 200,
        body: {
          ...rest,
          disk: rest.disk === null ? null : { ...rest.disk, used: [...rest.disk.used] },
          waiting: [...rest.waiting],
          databases: { unreadable: [...unreadable], set_aside: [...setAside] },
          // Negative if the clock was set back.
          uptime_seconds: Math.max(0, Math.floor(uptime / 1000)),
          troubles: troubles.slice(0, TROUBLES_MAX),
          trouble_count: troubles.length,
        },
      };
    },
  }),
];
