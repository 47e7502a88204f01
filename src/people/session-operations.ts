/** `/session`: a person signs in, sees where else they are signed in, and signs out. */
import { Type } from 'typebox';
import { sessionCookie, type PersonSession } from '../access/index.js';
import { defineOperation, noParams, object, type OperationContext } from '../operations/index.js';
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
import { csrfToken } from './tokens.js';
import { CSRF_TOKEN, NOT_SIGNED_IN, SESSION_NOT_FOUND, SIGN_IN_FAILED } from './problems.js';

const CONSOLE = ['console'] as const;
const ofPerson = { permission: null, callers: CONSOLE, target: 'none' } as const;

const byPassword = object({ email, password: givenPassword }, { description: 'Of who has signed in before' });

const byLink = object(
  { link: linkToken, password: Type.Optional(newPassword), email: Type.Optional(email) },
  {
    description:
      'The token of a one-time link or an invitation, with the `password` to be set, and an `email` where the person has none yet',
  },
);

const create = defineOperation({
  name: 'session.create',
  summary: 'Sign in',
  description:
    'Sets the cookie of a new session, which ends 12 hours after its last use. Five failures a minute from an address or for an e-mail, then 429 for whatever follows.',
  method: 'POST',
  path: '/session',
  permission: 'public',
  callers: CONSOLE,
  target: 'none',
  params: noParams,
  body: Type.Union([byPassword, byLink]),
  responses: { 201: { description: 'Signed in', schema: signedInResource } },
  errors: [SIGN_IN_FAILED, CSRF_TOKEN, 'name-exists', 'rate-limited', 'storage-full'],
  async handle(context, { body }) {
    const { services, visitor } = context;
    if (visitor.fetchSite === 'cross-site' || visitor.fetchSite === 'same-site') {
      throw new ServiceError(CSRF_TOKEN, 'A page of another site cannot sign anybody in.');
    }
    const { signIn } = services.part(PEOPLE);
    return signedIn(context, await ('link' in body ? signIn.byLink(body, visitor) : signIn.byPassword(body, visitor)));
  },
});

function signedIn({ services }: OperationContext, { person, token }: SignedIn) {
  return {
    status: 201,
    headers: { 'Set-Cookie': sessionCookie(services.config.console.public_url, token), ...NOT_STORED },
    body: describeSignedIn(services, {
      people: services.part(PEOPLE).people,
      id: person.id,
      csrf_token: csrfToken(token),
    }),
  };
}

/** Answers with tokens are in no cache. */
const NOT_STORED = { 'Cache-Control': 'no-store' };

const read = defineOperation({
  name: 'session.read',
  summary: 'Who is signed in, and what they may do where',
  method: 'GET',
  path: '/session',
  ...ofPerson,
  params: noParams,
  responses: { 200: { description: 'The person of the session', schema: signedInResource } },
  handle({ services, caller }) {
    const session = sessionOf(caller.session);
    const body = describeSignedIn(services, {
      people: services.part(PEOPLE).people,
      id: session.personId,
      csrf_token: session.csrfToken(),
    });
    return { status: 200, headers: NOT_STORED, body };
  },
});

const list = defineOperation({
  name: 'session.list',
  summary: 'Where the person is signed in',
  method: 'GET',
  path: '/session/all',
  ...ofPerson,
  params: noParams,
  responses: {
    200: {
      description: 'The sessions, the last used first',
      schema: object({ sessions: Type.Array(sessionResource) }),
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
  responses: { 204: { description: 'The session has ended', schema: null } },
  errors: ['storage-full'],
  async handle({ services, caller }) {
    const { id, personId } = sessionOf(caller.session);
    const { sessions } = services.part(PEOPLE).signIn;
    const own = sessions.find(personId, id);
    if (own !== undefined) await sessions.end(own);
    return { status: 204, headers: { 'Set-Cookie': sessionCookie(services.config.console.public_url, '') } };
  },
});

const endOne = defineOperation({
  name: 'session.end-one',
  summary: 'End one of the sessions of the person',
  method: 'DELETE',
  path: '/session/{id}',
  ...ofPerson,
  params: object({ id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the session' }) }),
  responses: { 204: { description: 'The session has ended', schema: null } },
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
  summary: 'Set another password',
  description: 'All other sessions of the person end, and no link signs them in any more.',
  method: 'PUT',
  path: '/session/password',
  ...ofPerson,
  params: noParams,
  body: object({
    old_password: Type.Optional(givenPassword),
    new_password: newPassword,
    email: Type.Optional(email),
  }),
  responses: { 200: { description: 'The password is set', schema: signedInResource } },
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
      headers: NOT_STORED,
      body: describeSignedIn(services, { people, id: session.personId, csrf_token: session.csrfToken() }),
    };
  },
});

/** Console callers have one; others are not admitted. */
function sessionOf(session: PersonSession | undefined): PersonSession {
  if (session === undefined) throw new ServiceError(NOT_SIGNED_IN, 'Sign in first.');
  return session;
}

export const sessionOperations = [create, read, list, end, endOne, setPassword];
