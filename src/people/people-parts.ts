/** People as they are served: what operations find of them, and who authenticates their sessions. */
import { SESSION_AUTHENTICATOR } from '../access/index.js';
import { provide, type FeatureParts } from '../operations/index.js';
import { consoleLink, contributorOperations } from './contributor-operations.js';
import { PEOPLE } from './part.js';
import { firstLinkText } from './people-text.js';
import { People } from './people.js';
import { sessionOperations } from './session-operations.js';
import { SignIn } from './sign-in.js';

/** Which an address leaves out. */
const HTTP_PORT = 80;

export const peopleParts: FeatureParts = {
  operations: [...sessionOperations, ...contributorOperations],
  open({ environment, clock, catalog, config }) {
    const people = new People(environment, clock);
    const signIn = new SignIn(people, clock);
    return {
      parts: [provide(PEOPLE, { people, signIn }), provide(SESSION_AUTHENTICATOR, signIn.sessions)],
      async forget({ subject, account }) {
        if (subject === 'account') await people.removeAll(account, signIn);
        return true;
      },
      async greeting(address) {
        const [account] = catalog.accounts();
        if (!people.isEmpty || account === undefined) return undefined;
        const { link } = await signIn.linkFor(account.name, { email: undefined, role: 'owner' });
        const port = Number(new URL(address).port || HTTP_PORT);
        return firstLinkText(consoleLink({ config }, link.token, port), link.expires_utc);
      },
    };
  },
};
