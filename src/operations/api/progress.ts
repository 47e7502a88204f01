/** `/progress`: what runs for a while, and how far it is. */
import { Type } from 'typebox';
import type { Caller } from '../../access/index.js';
import { ServiceError, type JobProgress } from '../../platform/index.js';
import { defineOperation } from '../dispatch/operation.js';
import { EVENT_STREAM_TYPE } from '../dispatch/event-stream.js';
import type { Services } from '../dispatch/services.js';
import { jobEvents } from './job-events.js';
import { accountParams, nullable, object, oneOf, timeSchema } from './schemas.js';

/** Of all accounts together; each costs a connection and a timer. */
const WATCHERS_MAX = 1_000;

/** By which jobs of lists may be seen. */
const LIST_PERMISSION = 'list:read';

const jobResource = object({
  kind: Type.String({
    description:
      'What is done: `version` builds a version of a list, `rebuild` makes the index of a list anew, `import` takes records into one, and those of features',
    examples: ['version'],
  }),
  name: Type.String({ description: 'Of the list, or of what else it works on', examples: ['films'] }),
  state: oneOf(['waiting', 'running'], { description: 'One that has ended is not listed' }),
  done: Type.Number({ minimum: 0, description: 'Records, or what else it counts' }),
  total: nullable(Type.Number({ minimum: 0 }), { description: 'Of them; null where it is not known' }),
  rate_per_second: Type.Number({ minimum: 0 }),
  seconds_left: nullable(Type.Number({ minimum: 0 }), { description: 'At this rate; null where it is not known' }),
  started_utc: nullable(timeSchema('When it began'), { description: 'Null while it waits' }),
  message: nullable(Type.String(), { description: 'What it is at' }),
});

const read = defineOperation({
  name: 'progress.read',
  summary: 'What runs in the background, and how far it is',
  description: 'Only what the key may read: jobs of lists need `list:read`. For keys of the account.',
  method: 'GET',
  path: '/progress/{account}',
  permission: null,
  callers: ['key', 'console', 'cli'],
  target: 'account',
  params: accountParams,
  responses: {
    200: {
      description: 'The jobs in the order in which they were begun',
      schema: object({ jobs: Type.Array(jobResource) }),
    },
  },
  handle({ services, caller }, { params: { account } }) {
    return { status: 200, body: jobsOf(services, account, caller) };
  },
});

const watch = defineOperation({
  name: 'progress.watch',
  summary: 'What runs in the background, told as it goes on',
  description:
    'Server-sent events. Each of the type `jobs` has the answer of `GET /progress/{account}`: the first at once, others when it has changed. The stream ends after a minute; a client that comes again, as browsers do, misses nothing.',
  method: 'GET',
  path: '/progress/{account}/events',
  permission: null,
  callers: ['key', 'console'],
  target: 'account',
  params: accountParams,
  responses: {
    200: { description: 'The events', schema: Type.Unknown(), contentType: EVENT_STREAM_TYPE },
  },
  handle({ services, caller }, { params: { account } }) {
    const { progress } = services;
    if (progress.listenerCount >= WATCHERS_MAX) {
      throw new ServiceError('overloaded', `${WATCHERS_MAX} others watch already: ask for the jobs themselves.`);
    }
    return { status: 200, events: jobEvents(progress, () => jobsOf(services, account, caller)) };
  },
});

/** Of the account, as far as the caller may know of them. */
function jobsOf(services: Services, account: string, caller: Caller) {
  const jobs = services.progress.all().flatMap((job) => {
    const owner = ownerOf(services, job);
    if (owner?.account !== account || !caller.can(owner.permission)) return [];
    const { subject: _subject, owner: _owner, ...told } = job;
    return [{ ...told, name: owner.name }];
  });
  return { jobs };
}

/** Undefined for a list that is gone. */
function ownerOf({ catalog }: Services, { owner, subject }: JobProgress) {
  if (owner !== undefined) return owner;
  const list = catalog.listOfId(subject);
  return list === undefined ? undefined : { account: list.account, name: list.name, permission: LIST_PERMISSION };
}

export const progressOperations = [read, watch];
