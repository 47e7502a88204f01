/** People as a feature: they sign in, and work on accounts in a role. */
import { SESSION_AUTHENTICATOR } from '../access/index.js';
import { provide, type Feature } from '../operations/index.js';
import { contributorOperations } from './contributor-operations.js';
import { PEOPLE } from './part.js';
import { People } from './people.js';
import { sessionOperations } from './session-operations.js';
import { SignIn } from './sign-in.js';

export const people: Feature = {
  name: 'people',
  operations: [...sessionOperations, ...contributorOperations],
  open({ environment, clock }) {
    const people = new People(environment, clock);
    const signIn = new SignIn(people, clock);
    return { parts: [provide(PEOPLE, { people, signIn }), provide(SESSION_AUTHENTICATOR, signIn.sessions)] };
  },
};
