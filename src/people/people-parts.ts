/** People as they are served: what operations find of them, and who authenticates their sessions. */
import { SESSION_AUTHENTICATOR } from '../access/index.js';
import { provide, type FeatureParts } from '../operations/index.js';
import { contributorOperations } from './contributor-operations.js';
import { PEOPLE } from './part.js';
import { People } from './people.js';
import { sessionOperations } from './session-operations.js';
import { SignIn } from './sign-in.js';

export const peopleParts: FeatureParts = {
  operations: [...sessionOperations, ...contributorOperations],
  open({ environment, clock }) {
    const people = new People(environment, clock);
    const signIn = new SignIn(people, clock);
    return {
      parts: [provide(PEOPLE, { people, signIn }), provide(SESSION_AUTHENTICATOR, signIn.sessions)],
      async forget({ subject, account }) {
        if (subject === 'account') await people.removeAll(account, signIn);
        return true;
      },
    };
  },
};
