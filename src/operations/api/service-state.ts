/** `/service/state`: what an operator wants to know first, in one answer. */
import { Type } from 'typebox';
import { defineOperation, type Operation } from '../dispatch/operation.js';
import { accountParams, named, nullable, object, timeSchema } from './schemas.js';

const TROUBLES_MAX = 200;
const bytes = (description: string) => Type.Integer({ minimum: 0, description });
const count = (description: string) => Type.Integer({ minimum: 0, description });

const trouble = named('Trouble', {
  kind: Type.String({
    description: 'What does not work',
    examples: ['feed', 'webhook', 'meaning', 'list', 'source', 'sign-in', 'queue', 'program'],
  }),
  account: Type.String({ description: 'Account that it concerns; empty: all' }),
  name: Type.String({ description: 'Name of the feed, the list, the queue, …; for a webhook, its URL' }),
  detail: Type.String({ description: 'What is wrong' }),
  since_utc: nullable(timeSchema('When it was seen; null where that is not known')),
});

const state = named('ServiceState', {
  release: Type.String({ description: 'Release of the program' }),
  node: Type.String({ description: 'Release of Node.js' }),
  process_id: Type.Integer({ description: 'Id of the process in the system' }),
  started_utc: timeSchema('When the process began'),
  uptime_seconds: count('Since then'),
  data_dir: Type.String({ description: 'Where all data are' }),
  disk: nullable(
    object({
      bytes: bytes('Of the file system of the data directory'),
      free_bytes: bytes('For other users than root'),
      used: Type.Array(
        object({
          name: Type.String({ description: 'Folder or file of the data directory' }),
          bytes: bytes('Of the disk, a file of several names counted once; as it was at most five minutes ago'),
        }),
        { description: 'The largest first; empty until they have been measured' },
      ),
    }),
    { description: 'Null: the disk does not answer' },
  ),
  memory: object({
    own_bytes: nullable(bytes('What the process takes, beside mapped files'), {
      description: 'Null: the system does not tell (other than Linux)',
    }),
    budget_bytes: bytes('What it may (memory.mib)'),
  }),
  lists: object({
    all: count('Of all accounts'),
    open: count('The others rest'),
    rebuilding: count('Whose index is being made again, or waits for it'),
  }),
  waiting: Type.Array(
    object({
      name: Type.String(),
      count: count('Tasks, or deliveries of webhooks'),
      max: nullable(count('How many may wait before requests are refused'), {
        description: 'Null: no request is refused because of it',
      }),
    }),
    { description: 'What waits for a thread, by its kind, and deliveries that wait or are set aside' },
  ),
  backup: object({
    last: nullable(
      object({
        finished_utc: timeSchema('When it was whole'),
        path: Type.String({ description: 'Where it is' }),
        bytes: bytes('Of all its files'),
      }),
      {
        description:
          'The last one that `gannet backup` made of this data directory; null: none. Snapshots of the file system are not known here',
      },
    ),
    failure: nullable(object({ at_utc: timeSchema('When it failed'), detail: Type.String({ description: 'Why' }) }), {
      description: 'The last one that failed since then; null: none',
    }),
  }),
  databases: object({
    unreadable: Type.Array(Type.String(), {
      description: 'Databases of webhooks, analytics and settings that cannot be read',
    }),
    set_aside: Type.Array(Type.String(), {
      description: 'Databases that were damaged, set aside, and begun again empty',
    }),
  }),
  troubles: Type.Array(trouble, { description: `What does not work, of all accounts: at most ${TROUBLES_MAX}` }),
  trouble_count: count('All of them'),
});

export const serviceStateOperations: readonly Operation[] = [
  defineOperation({
    name: 'service.state',
    summary: 'The state of the service',
    description:
      'Release, disk, memory, queues, the last backup, and what does not work: feeds and imports that failed, webhooks with deliveries set aside, models that do not do what they are asked for, lists that cannot be opened, queues that are nearly full, and a program that was replaced under the service. ' +
      'Only the command line, and owners of the account that the first start made, may read it; no key may.',
    method: 'GET',
    path: '/service/state/{account}',
    permission: 'service:state',
    callers: ['console', 'cli'],
    target: 'account',
    params: accountParams,
    responses: { 200: { description: 'As it is now', schema: state } },
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
