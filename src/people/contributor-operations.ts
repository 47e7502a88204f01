/** `/contributor`: the people who work on an account, and their roles. */
import { Type } from 'typebox';
import {
  accountParams,
  defineOperation,
  nextOf,
  nextPage,
  object,
  pageQuery,
  wantedPage,
  type Services,
} from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import { PEOPLE } from './part.js';
import {
  contributorParams,
  contributorResource,
  describeContributor,
  email,
  invitedResource,
  role,
} from './people-schemas.js';
import { CONTRIBUTOR_NOT_FOUND } from './problems.js';

/** A link signs a person in, so programs cannot get one. */
const CONSOLE_ONLY = ['console', 'cli'] as const;

const list = defineOperation({
  name: 'contributor.list',
  summary: 'List the people of an account',
  method: 'GET',
  path: '/contributor/{account}',
  permission: 'contributor:read',
  callers: ['key', 'console', 'cli'],
  target: 'account',
  params: accountParams,
  query: pageQuery,
  responses: {
    200: {
      description: 'The people, in the order in which they signed up',
      schema: object({
        contributors: Type.Array(contributorResource, { description: 'The people' }),
        next: nextPage,
      }),
    },
  },
  handle({ services }, { params: { account }, query }) {
    const page = services.part(PEOPLE).people.contributorPage(account, wantedPage(query));
    return { status: 200, body: { contributors: page.entries.map(describeContributor), ...nextOf(page) } };
  },
});

const create = defineOperation({
  name: 'contributor.create',
  summary: 'Invite a person to an account',
  description:
    'A person who already signs in here has the role at once. Anybody else joins with the link in the answer, which is shown only this once.',
  method: 'POST',
  path: '/contributor/{account}',
  permission: 'contributor:create',
  callers: CONSOLE_ONLY,
  target: 'account',
  params: accountParams,
  body: object({ email, role }),
  responses: { 201: { description: 'The person', schema: invitedResource } },
  errors: ['name-exists', 'conflict', 'storage-full'],
  async handle({ services }, { params: { account }, body }) {
    const { link, ...added } = await services.part(PEOPLE).signIn.invite(account, body);
    return {
      status: 201,
      body: { ...describeContributor(added), link: link === undefined ? null : consoleLink(services, link.token) },
    };
  },
});

const update = defineOperation({
  name: 'contributor.update',
  summary: 'Change the role of a person',
  description:
    'Takes effect with the next request of the person. The last owner of an account cannot get another role.',
  method: 'PUT',
  path: '/contributor/{account}/{id}',
  permission: 'contributor:update',
  callers: CONSOLE_ONLY,
  target: 'account',
  params: contributorParams,
  body: object({ role }),
  responses: { 200: { description: 'The person', schema: contributorResource } },
  errors: [CONTRIBUTOR_NOT_FOUND, 'conflict', 'storage-full'],
  handle: async ({ services }, { params: { account, id }, body }) => ({
    status: 200,
    body: describeContributor(await services.part(PEOPLE).people.setRole(account, id, body.role)),
  }),
});

const remove = defineOperation({
  name: 'contributor.delete',
  summary: 'Remove a person from an account',
  description:
    'Takes effect with the next request of the person. A person without another account is signed out everywhere. The last owner of an account cannot be removed.',
  method: 'DELETE',
  path: '/contributor/{account}/{id}',
  permission: 'contributor:delete',
  callers: CONSOLE_ONLY,
  target: 'account',
  params: contributorParams,
  responses: { 204: { description: 'The person was removed', schema: null } },
  errors: [CONTRIBUTOR_NOT_FOUND, 'conflict', 'storage-full'],
  async handle({ services }, { params: { account, id } }) {
    const { people, signIn } = services.part(PEOPLE);
    await people.remove(account, id, signIn);
    return { status: 204 };
  },
});

const link = defineOperation({
  name: 'contributor.link',
  summary: 'Create a link that signs a person in once',
  description:
    'For people who have no password yet, or have lost it. Without an email, the link is for the first owner of the account, who is created if there is none.',
  method: 'POST',
  path: '/contributor/{account}/link',
  permission: 'contributor:create',
  callers: ['cli'],
  target: 'account',
  params: accountParams,
  body: object({ email: Type.Optional(email), role: Type.Optional(role) }),
  responses: {
    201: {
      description: 'The link',
      schema: object({
        link: Type.String({ description: 'Link to open in a browser, once' }),
        expires_utc: Type.String({ format: 'date-time', description: 'Time at which the link stops working' }),
        id: Type.String({ description: 'Id of the person' }),
      }),
    },
  },
  errors: ['conflict', 'storage-full'],
  async handle({ services }, { params: { account }, body }) {
    const { signIn } = services.part(PEOPLE);
    if (body.role !== undefined && body.email === undefined) {
      const detail = 'A role can only be given together with an email.';
      throw new ServiceError('invalid-parameter', detail, { errors: [{ pointer: '/role', detail }] });
    }
    const made = await signIn.linkFor(account, { email: body.email, role: body.role ?? 'owner' });
    const { token, expires_utc } = made.link;
    return { status: 201, body: { link: consoleLink(services, token), expires_utc, id: made.person.id } };
  },
});

/**
 * Returns a link to the console. The token is in the fragment, which browsers do not send, so no log and no proxy sees
 * it.
 */
export function consoleLink({ config }: Pick<Services, 'config'>, token: string, port = config.server.port): string {
  const { host } = config.server;
  const address =
    config.console.public_url === '' ? `http://${reachableHost(host)}:${port}` : config.console.public_url;
  return `${address}/console/#link=${token}`;
}

/** Returns an address to connect to for an address to listen on. */
function reachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost';
  return host.includes(':') ? `[${host}]` : host;
}

export const contributorOperations = [list, create, update, remove, link];
