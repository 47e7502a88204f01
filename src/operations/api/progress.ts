/** `/progress`: long-running jobs and their progress. */
import { Type } from 'typebox';
import { ServiceError } from '../../platform/index.js';
import { defineOperation } from '../dispatch/operation.js';
import { EVENT_STREAM_TYPE } from '../dispatch/event-stream.js';
import type { Services } from '../dispatch/services.js';
import { jobsSeenBy, type JobReader } from './account-jobs.js';
import { jobEvents } from './job-events.js';
import { accountParams, nullable, named, object, oneOf, timeSchema } from './schemas.js';

/** Limit on watchers over all accounts; each takes a connection and a timer. */
const WATCHERS_MAX = 1_000;

/** Jobs listed individually, about 25 KB. */
const TOLD_MAX = 100;
/** Longer than any job's name. */
const NAME_CHARACTERS_MAX = 512;

const jobResource = named('Job', {
  kind: Type.String({
    description:
      'What is done: `version` builds a version of a list, `rebuild` rebuilds the index of a list, `import` imports records into one; and the jobs of features',
    examples: ['version'],
  }),
  name: Type.String({ description: 'Name of the list, or of what else it works on', examples: ['films'] }),
  state: oneOf(['waiting', 'running'], { description: 'A job that has ended is not listed' }),
  done: Type.Number({ minimum: 0, description: 'How many records, or whatever it counts, are done' }),
  total: nullable(Type.Number({ minimum: 0 }), { description: 'How many there are; null if that is not known' }),
  rate_per_second: Type.Number({ minimum: 0 }),
  seconds_left: nullable(Type.Number({ minimum: 0 }), { description: 'At this rate; null if that is not known' }),
  started_utc: nullable(timeSchema('When it began'), { description: 'Null while it waits' }),
  message: nullable(Type.String(), { description: 'What it is doing' }),
});

const ofName = Type.Optional(
  object({
    name: Type.Optional(
      Type.String({
        maxLength: NAME_CHARACTERS_MAX,
        description: 'Only what has this name, such as a list, even beyond the first hundred',
      }),
    ),
  }),
);

const read = defineOperation({
  name: 'progress.read',
  summary: 'What runs in the background, and how far it is',
  description:
    'For keys of the account. A key sees only the jobs that it may read about: jobs of lists need `list:read`.',
  method: 'GET',
  path: '/progress/{account}',
  permission: null,
  callers: ['key', 'console', 'cli'],
  target: 'account',
  params: accountParams,
  query: ofName,
  responses: {
    200: {
      description: `The jobs in the order in which they were begun; of more than ${TOLD_MAX} the first, where \`job_count\` says that there are more`,
      schema: object({
        jobs: Type.Array(jobResource, { maxItems: TOLD_MAX }),
        job_count: Type.Integer({
          minimum: 0,
          description: `Number of all jobs, even if more than ${TOLD_MAX} run or wait`,
        }),
      }),
    },
  },
  handle({ services, caller }, { params: { account }, query: { name } = {} }) {
    return { status: 200, body: jobsOf(services, { account, name, can: (permission) => caller.can(permission) }) };
  },
});

const watch = defineOperation({
  name: 'progress.watch',
  summary: 'What runs in the background, as a stream of events',
  description:
    'Server-sent events. Each of the type `jobs` has the answer of `GET /progress/{account}`: the first at once, others when it has changed. The stream ends after a minute; a client that comes again, as browsers do, misses nothing. Of more than a hundred jobs the first are told: whoever watches one of them gives its `name`.',
  method: 'GET',
  path: '/progress/{account}/events',
  permission: null,
  callers: ['key', 'console'],
  target: 'account',
  params: accountParams,
  query: ofName,
  responses: {
    200: { description: 'The events', schema: Type.Unknown(), contentType: EVENT_STREAM_TYPE },
  },
  handle({ services, caller }, { params: { account }, query: { name } = {} }) {
    const { progress } = services;
    if (progress.listenerCount >= WATCHERS_MAX) {
      throw new ServiceError('overloaded', `${WATCHERS_MAX} others watch already: ask for the jobs themselves.`);
    }
    return {
      status: 200,
      events: jobEvents(progress, () =>
        jobsOf(services, { account, name, can: (permission) => caller.can(permission) }),
      ),
    };
  },
});

/** Returns the account's jobs that the caller may see. */
function jobsOf({ progress, catalog }: Services, reader: JobReader) {
  const { jobs, count } = jobsSeenBy(progress, catalog, reader, TOLD_MAX);
  const told = jobs.map(({ job, name }) => {
    const { subject: _subject, owner: _owner, ...read } = job.read();
    return { ...read, name };
  });
  return { jobs: told, job_count: count };
}

export const progressOperations = [read, watch];
