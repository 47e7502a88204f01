/** Schemas of people, sessions and contributors. */
import { Type } from 'typebox';
import {
  accountName,
  nullable,
  named,
  object,
  oneOf,
  patterned,
  timeSchema,
  type Services,
} from '../operations/index.js';
import { ServiceError } from '../platform/index.js';
import { PASSWORD_CHARACTERS_MAX, PASSWORD_CHARACTERS_MIN } from './passwords.js';
import { permissionNames } from './roles.js';
import type { Contributor, People } from './people.js';
import { SESSION_IDLE_MS_MAX } from './sessions.js';
import { TOKEN_PATTERN, TOKEN_WORDS } from './tokens.js';
import { ROLES, type SessionRecord } from './types.js';

/** Requires one @ with something on both sides. No pattern can tell whether mail arrives there. */
export const email = patterned(
  '^[^\\s@\\u0000-\\u001f\\u007f]+@[^\\s@\\u0000-\\u001f\\u007f]+$',
  'an email address, with one @ and without blanks',
  {
    minLength: 3,
    maxLength: 254,
    description: 'Email address of the person; case is ignored',
    examples: ['ann@example.com'],
  },
);

/** A password that is chosen. */
export const newPassword = Type.String({
  minLength: PASSWORD_CHARACTERS_MIN,
  maxLength: PASSWORD_CHARACTERS_MAX,
  description: `New password, of at least ${PASSWORD_CHARACTERS_MIN} characters`,
});

/** A password that is compared: its minimum length is not checked, so that nothing can be learnt from it. */
export const givenPassword = Type.String({ maxLength: PASSWORD_CHARACTERS_MAX, description: 'Password of the person' });

export const linkToken = patterned(TOKEN_PATTERN, TOKEN_WORDS, {
  writeOnly: true,
  description: 'Token of a one-time link or an invitation',
});

export const role = oneOf(ROLES, {
  description:
    'Role of the person in the account. `owner`: may do everything; `editor`: everything except API keys, people and the account itself; `viewer`: may only read',
});

const personId = Type.String({ minLength: 1, maxLength: 64, description: 'Id of the person' });

export const contributorParams = object({ account: accountName, id: personId });

const person = named(
  'Person',
  {
    id: Type.String({ description: 'Id of the person' }),
    email: nullable(Type.String(), {
      description:
        'Email address that the person signs in with. Null for a person who was added by a one-time link and has none',
    }),
    has_password: Type.Boolean({
      description: 'Whether the person has a password. Without one, they sign in by links or OpenID Connect',
    }),
  },
  { description: 'A person who signs in' },
);

export const signedInResource = named(
  'SignedIn',
  {
    person,
    accounts: Type.Array(
      object({
        name: Type.String({ description: 'Name of the account' }),
        role,
        permissions: Type.Array(Type.String(), {
          description: 'Permissions of the role in the account; `*` stands for all',
        }),
      }),
      { description: 'Accounts that the person works on' },
    ),
    csrf_token: Type.String({
      description: 'CSRF token: requests of this session that change something must send it as `X-CSRF-Token`',
    }),
    expires_utc: timeSchema('Time at which the session ends unless it is used'),
  },
  { description: 'The signed-in person and their session' },
);

export const sessionResource = named(
  'Session',
  {
    id: Type.String({ description: 'Id of the session' }),
    created_utc: timeSchema('Time of the sign-in'),
    last_used_utc: timeSchema('Time of the last request of the session'),
    address: Type.String({ description: 'Network address that the sign-in came from' }),
    user_agent: Type.String({ description: '`User-Agent` of the browser' }),
    is_current: Type.Boolean({ description: 'Whether this is the session of the request' }),
  },
  { description: 'A session of a person' },
);

export const contributorResource = named(
  'Contributor',
  {
    id: Type.String({ description: 'Id of the person' }),
    email: nullable(Type.String(), {
      description: 'Email address of the person. Null for a person who was added by a one-time link and has none',
    }),
    role,
    added_utc: timeSchema('Time at which the person was added to the account'),
    state: oneOf(['active', 'invited'], {
      description: '`invited`: the person has not signed in yet; `active`: any other',
    }),
  },
  { description: 'A person who works on an account' },
);

/** The link of a new contributor, shown only once. */
export const invitedResource = object({
  ...contributorResource.properties,
  link: nullable(Type.String(), {
    description:
      'Link to send to the person. It signs them in once, within a week. Null if the person already has a password',
  }),
});

export interface SignedInPerson {
  readonly people: People;
  readonly id: string;
  readonly csrf_token: string;
}

/** Describes a person to themselves. */
export function describeSignedIn({ permissions }: Services, { people, id, csrf_token }: SignedInPerson) {
  const known = people.person(id);
  if (known === undefined) throw new ServiceError('not-signed-in', 'The session has ended: sign in again.');
  return {
    person: { id, email: known.email, has_password: known.password_hash !== null },
    accounts: people.accountsOf(id).flatMap(({ account }) => {
      const place = people.place(account, id);
      if (place === undefined) return [];
      return [{ name: account, role: place.role, permissions: permissionNames(place, permissions.all) }];
    }),
    csrf_token,
    expires_utc: new Date(people.clock.nowMs() + SESSION_IDLE_MS_MAX).toISOString(),
  };
}

export function describeSession(session: SessionRecord, currentId: string) {
  const { id, created_utc, last_used_utc, address, user_agent } = session;
  return { id, created_utc, last_used_utc, address, user_agent, is_current: id === currentId };
}

export function describeContributor({ person: { id, email, password_hash }, contributor }: Contributor) {
  const { role, added_utc } = contributor;
  const state = password_hash === null && email !== null ? 'invited' : 'active';
  return { id, email, role, added_utc, state };
}
