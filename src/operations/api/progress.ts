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

const jobResource = named(
  'Job',
  {
    kind: Type.String({
      description:
        'Kind of the job: `version` builds a version of a list, `rebuild` rebuilds the index of a list, `import` imports records into a list. Features of the service have jobs of other kinds',
      examples: ['version'],
    }),
    name: Type.String({ description: 'Name of the list, or of whatever else the job works on', examples: ['films'] }),
    state: oneOf(['waiting', 'running'], {
      description: '`waiting`: the job has not begun; `running`: it has. A job that has ended is not listed',
    }),
    done: Type.Number({ minimum: 0, description: 'Number of records, or whatever the job counts, that are done' }),
    total: nullable(Type.Number({ minimum: 0 }), { description: 'Number of all of them. Null if it is not known' }),
    rate_per_second: Type.Number({
      minimum: 0,
      description: 'How many are done per second, on average since the job began',
    }),
    seconds_left: nullable(Type.Number({ minimum: 0 }), {
      description: 'Seconds until the job ends, at this rate. Null if it is not known',
    }),
    started_utc: nullable(timeSchema('Time at which the job began'), {
      description: 'Time at which the job began. Null while it waits',
    }),
    message: nullable(Type.String(), { description: 'What the job is doing. Null if it has nothing to say' }),
  },
  { description: 'A background job' },
);

const ofName = Type.Optional(
  object({
    name: Type.Optional(
      Type.String({
        maxLength: NAME_CHARACTERS_MAX,
        description:
          'Returns only jobs with this name, such as the name of a list, even if they are not among the first hundred',
      }),
    ),
  }),
);

const read = defineOperation({
  name: 'progress.read',
  summary: 'List background jobs and their progress',
  description:
    'For keys with the scope `account`. A key sees only the jobs that its permissions allow: jobs of lists need `list:read`.',
  method: 'GET',
  path: '/progress/{account}',
  permission: null,
  callers: ['key', 'console', 'cli'],
  target: 'account',
  params: accountParams,
  query: ofName,
  responses: {
    200: {
      description: `The jobs, in order of their start; only the first ${TOLD_MAX} of them, while \`job_count\` counts all`,
      schema: object({
        jobs: Type.Array(jobResource, { maxItems: TOLD_MAX, description: 'The jobs' }),
        job_count: Type.Integer({
          minimum: 0,
          description: `Number of all jobs, even if there are more than ${TOLD_MAX}`,
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
  summary: 'Watch background jobs as a stream of events',
  description:
    'A stream of server-sent events. The data of each event of the type `jobs` is the answer of `GET /progress/{account}`: the first is sent at once, others when the jobs have changed. The stream ends after a minute, and when its key is deleted or expires; a client that connects again, as browsers do, misses nothing. Only the first hundred jobs are sent: to watch another job, give its `name`.',
  method: 'GET',
  path: '/progress/{account}/events',
  permission: null,
  callers: ['key', 'console'],
  target: 'account',
  params: accountParams,
  query: ofName,
  responses: {
    200: { description: 'A stream of server-sent events', schema: Type.Unknown(), contentType: EVENT_STREAM_TYPE },
  },
  handle({ services, caller }, { params: { account }, query: { name } = {} }) {
    const { progress } = services;
    if (progress.listenerCount >= WATCHERS_MAX) {
      throw new ServiceError(
        'overloaded',
        `${WATCHERS_MAX} clients are already watching jobs. Read the jobs with GET /progress/{account} instead.`,
      );
    }
    return {
      status: 200,
      events: jobEvents(progress, {
        read: () => jobsOf(services, { account, name, can: (permission) => caller.can(permission) }),
        mayGoOn: () => caller.key === undefined || services.access.isInForce(caller.key),
      }),
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
