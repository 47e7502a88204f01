/** `/session`: people sign in, see their sessions, and sign out. */
import { Type } from 'typebox';
import { sessionCookie, type ConsolePlace, type PersonSession } from '../access/index.js';
import {
  defineOperation,
  noParams,
  nullable,
  object,
  patterned,
  type OperationContext,
  type Services,
  type Visitor,
} from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import { PEOPLE } from './part.js';
import {
  describeSession,
  describeSignedIn,
  email,
  givenPassword,
  linkToken,
  newPassword,
  sessionResource,
  signedInResource,
} from './people-schemas.js';
import type { SignedIn } from './sign-in.js';
import { csrfToken, TOKEN_PATTERN, TOKEN_WORDS } from './tokens.js';
import type { OpenId } from './openid.js';
import { NO_PROVIDER, PROVIDER_UNAVAILABLE, SESSION_NOT_FOUND, SIGN_IN_FAILED } from './problems.js';

const CONSOLE = ['console'] as const;
const ofPerson = { permission: null, callers: CONSOLE, target: 'none' } as const;

const byPassword = object({ email, password: givenPassword }, { description: 'Sign-in with email and password' });

const byLink = object(
  { link: linkToken, password: Type.Optional(newPassword), email: Type.Optional(email) },
  {
    description:
      'Sign-in with the token of a one-time link or an invitation. `password` sets the password of the person, and `email` the email of a person who has none yet',
  },
);

const openIdText = (name: string) =>
  Type.String({ minLength: 1, maxLength: 4096, description: `Parameter \`${name}\` that the provider sent back` });
const byOpenId = object(
  {
    flow: patterned(TOKEN_PATTERN, TOKEN_WORDS, {
      writeOnly: true,
      description: '`flow` of the answer of `POST /session/openid`',
    }),
    code: openIdText('code'),
    state: openIdText('state'),
    iss: Type.Optional(openIdText('iss')),
  },
  { description: 'Sign-in by OpenID Connect, with the parameters that the provider sent back' },
);

const create = defineOperation({
  name: 'session.create',
  summary: 'Sign in',
  description:
    'Sets the cookie of a new session, which ends 12 hours after its last use. After five failures within a minute from one network address or for one email, further attempts are refused (429).',
  method: 'POST',
  path: '/session',
  permission: 'public',
  callers: CONSOLE,
  target: 'none',
  params: noParams,
  body: Type.Union([byPassword, byLink, byOpenId]),
  responses: {
    201: { description: 'The person is signed in', schema: signedInResource, headers: ['Set-Cookie'] },
  },
  errors: [
    SIGN_IN_FAILED,
    'csrf-token',
    'limit-reached',
    NO_PROVIDER,
    'name-exists',
    'rate-limited',
    'storage-full',
    PROVIDER_UNAVAILABLE,
  ],
  async handle(context, { body }) {
    const { services, visitor } = context;
    assertOwnPage(visitor);
    const { signIn } = services.part(PEOPLE);
    if ('flow' in body) {
      const openId = providerIn(services);
      return signedIn(context, await signIn.byIdentity(() => openId.finish(body), visitor));
    }
    return signedIn(context, await ('link' in body ? signIn.byLink(body, visitor) : signIn.byPassword(body, visitor)));
  },
});

function assertOwnPage({ fetchSite }: Visitor): void {
  if (fetchSite !== 'cross-site' && fetchSite !== 'same-site') return;
  throw new ServiceError('csrf-token', 'A page of another site cannot sign anybody in.');
}

function providerIn(services: Services): OpenId {
  const { openId } = services.part(PEOPLE);
  if (openId !== undefined) return openId;
  throw new ServiceError(NO_PROVIDER, 'No OpenID provider is set up.');
}

const ways = defineOperation({
  name: 'session.ways',
  summary: 'Read how people can sign in',
  method: 'GET',
  path: '/session/ways',
  permission: 'public',
  callers: CONSOLE,
  target: 'none',
  params: noParams,
  responses: {
    200: {
      description: 'Ways to sign in, in addition to email and password, and links',
      schema: object({
        openid: nullable(
          object({
            name: Type.String({ description: 'Name of the provider, to show to people' }),
            sign_up: Type.Boolean({
              description: 'Whether people who were not invited can sign up and get an account of their own',
            }),
          }),
          { description: 'Sign-in by OpenID Connect. Null if it is not set up' },
        ),
      }),
    },
  },
  handle({ services }) {
    const { openId } = services.part(PEOPLE);
    return {
      status: 200,
      body: { openid: openId === undefined ? null : { name: openId.name, sign_up: openId.letsIn } },
    };
  },
});

const openid = defineOperation({
  name: 'session.openid',
  summary: 'Begin a sign-in by OpenID Connect',
  description:
    'Send the browser to `url`, and keep `flow`. The provider sends the browser back to the console with the other parameters that `POST /session` needs. They can be used once, within ten minutes.',
  method: 'POST',
  path: '/session/openid',
  permission: 'public',
  callers: CONSOLE,
  target: 'none',
  params: noParams,
  responses: {
    201: {
      description: 'Where to send the browser',
      schema: object({
        url: Type.String({ description: 'URL of the sign-in page of the provider' }),
        flow: Type.String({ description: 'Secret token of this attempt, to be kept by this browser alone' }),
      }),
    },
  },
  errors: ['csrf-token', NO_PROVIDER, PROVIDER_UNAVAILABLE],
  async handle({ services, visitor }) {
    assertOwnPage(visitor);
    return { status: 201, body: await providerIn(services).begin() };
  },
});

function signedIn({ services, visitor }: OperationContext, { person, token }: SignedIn) {
  return {
    status: 201,
    headers: { 'Set-Cookie': sessionCookie(placeOf(services, visitor), token) },
    body: describeSignedIn(services, {
      people: services.part(PEOPLE).people,
      id: person.id,
      csrf_token: csrfToken(token),
    }),
  };
}

function placeOf({ config }: Services, { origin }: Visitor): ConsolePlace {
  return { publicUrl: config.console.public_url, origin };
}

const read = defineOperation({
  name: 'session.read',
  summary: 'Read who is signed in and what they may do',
  method: 'GET',
  path: '/session',
  ...ofPerson,
  params: noParams,
  responses: {
    200: {
      description: 'The person of the session, with their accounts and permissions',
      schema: signedInResource,
    },
  },
  handle({ services, caller }) {
    const session = sessionOf(caller.session);
    const body = describeSignedIn(services, {
      people: services.part(PEOPLE).people,
      id: session.personId,
      csrf_token: session.csrfToken(),
    });
    return { status: 200, body };
  },
});

const list = defineOperation({
  name: 'session.list',
  summary: 'List the sessions of the signed-in person',
  method: 'GET',
  path: '/session/all',
  ...ofPerson,
  params: noParams,
  responses: {
    200: {
      description: 'The sessions, last used first',
      schema: object({ sessions: Type.Array(sessionResource, { description: 'The sessions' }) }),
    },
  },
  handle({ services, caller }) {
    const { id, personId } = sessionOf(caller.session);
    const sessions = services.part(PEOPLE).signIn.sessions.of(personId).toReversed();
    return { status: 200, body: { sessions: sessions.map((session) => describeSession(session, id)) } };
  },
});

const end = defineOperation({
  name: 'session.end',
  summary: 'Sign out',
  method: 'DELETE',
  path: '/session',
  ...ofPerson,
  params: noParams,
  responses: { 204: { description: 'The session was ended', schema: null, headers: ['Set-Cookie'] } },
  errors: ['storage-full'],
  async handle({ services, caller, visitor }) {
    const { id, personId } = sessionOf(caller.session);
    const { sessions } = services.part(PEOPLE).signIn;
    const own = sessions.find(personId, id);
    if (own !== undefined) await sessions.end(own);
    return { status: 204, headers: { 'Set-Cookie': sessionCookie(placeOf(services, visitor), '') } };
  },
});

const endOne = defineOperation({
  name: 'session.end-one',
  summary: 'End a session of the signed-in person',
  method: 'DELETE',
  path: '/session/{id}',
  ...ofPerson,
  params: object({ id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the session' }) }),
  responses: { 204: { description: 'The session was ended', schema: null } },
  errors: [SESSION_NOT_FOUND, 'storage-full'],
  async handle({ services, caller }, { params }) {
    const { sessions } = services.part(PEOPLE).signIn;
    const found = sessions.find(sessionOf(caller.session).personId, params.id);
    if (found === undefined) throw new ServiceError(SESSION_NOT_FOUND, 'You have no session with this id.');
    await sessions.end(found);
    return { status: 204 };
  },
});

const setPassword = defineOperation({
  name: 'session.set-password',
  summary: 'Change the password of the signed-in person',
  description: 'Ends all other sessions of the person; links that were created earlier no longer sign them in.',
  method: 'PUT',
  path: '/session/password',
  ...ofPerson,
  params: noParams,
  body: object({
    old_password: Type.Optional(givenPassword),
    new_password: newPassword,
    email: Type.Optional(email),
  }),
  responses: { 200: { description: 'The password was changed', schema: signedInResource } },
  errors: [SIGN_IN_FAILED, 'name-exists', 'rate-limited', 'storage-full'],
  async handle({ services, caller, visitor }, { body }) {
    const { people, signIn } = services.part(PEOPLE);
    const session = sessionOf(caller.session);
    await signIn.changePassword(
      { id: session.id, personId: session.personId, address: visitor.address },
      { oldPassword: body.old_password, newPassword: body.new_password, email: body.email },
    );
    return {
      status: 200,
      body: describeSignedIn(services, { people, id: session.personId, csrf_token: session.csrfToken() }),
    };
  },
});

/** Returns the session, which console callers always have. */
function sessionOf(session: PersonSession | undefined): PersonSession {
  if (session === undefined) throw new ServiceError('not-signed-in', 'Sign in first.');
  return session;
}

export const sessionOperations = [create, ways, openid, read, list, end, endOne, setPassword];
