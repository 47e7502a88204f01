/** Parts of the feature: what operations need of people, and the authenticator of sessions. */
import { SESSION_AUTHENTICATOR } from '../access/index.js';
import type { Change } from '../catalog/index.js';
import { provide, type FeatureParts, type Trouble } from '../operations/index.js';
import { consoleLink, contributorOperations } from './contributor-operations.js';
import { settingsOf, type OutboundRules } from '../platform/index.js';
import { OutboundClient } from '../platform/outbound/outbound-client.js';
import { OpenId } from './openid.js';
import { OPENID_SETTINGS, providerOf } from './openid-settings.js';
import { newAccounts } from './own-account.js';
import { PLANS } from '../plans/index.js';
import { PEOPLE } from './part.js';
import { firstLinkText } from './people-text.js';
import { People } from './people.js';
import { sessionOperations } from './session-operations.js';
import { SignIn } from './sign-in.js';

/** Omitted in addresses. */
const HTTP_PORT = 80;

const PROVIDER_MS_MAX = 10_000;
const PROVIDER_BYTES_MAX = 1_048_576;
const PROVIDER_CONNECTIONS_MAX = 8;
const SIGN_INS_WAITING_MAX = 100;

/** Creates the client for the provider, with short limits, since somebody waits for each answer. */
function createProviderOutbound(rules: OutboundRules): OutboundClient {
  return new OutboundClient({
    rules,
    userAgent: 'Gannet-SignIn',
    limits: {
      headersMs: PROVIDER_MS_MAX,
      idleMs: PROVIDER_MS_MAX,
      totalMs: PROVIDER_MS_MAX,
      wireBytesMax: PROVIDER_BYTES_MAX,
      bytesMax: PROVIDER_BYTES_MAX,
    },
    connectMs: PROVIDER_MS_MAX,
    keepAliveMs: PROVIDER_MS_MAX,
    connectionsPerHostMax: PROVIDER_CONNECTIONS_MAX,
    connectionsMax: PROVIDER_CONNECTIONS_MAX,
    waitingMax: SIGN_INS_WAITING_MAX,
  });
}

function troublesOf(openId: OpenId | undefined): Trouble[] {
  if (openId?.trouble === undefined) return [];
  const { why, sinceUtc } = openId.trouble;
  return [{ kind: 'sign-in', account: '', name: openId.name, detail: why, since_utc: sinceUtc }];
}

export const peopleParts: FeatureParts = {
  operations: [...sessionOperations, ...contributorOperations],
  open(platform) {
    const { environment, clock, catalog, config, log } = platform;
    const people = new People(environment, clock, config.account.name);
    const provider = providerOf(settingsOf(config, OPENID_SETTINGS), config);
    const { plans, planOfNewcomers } = platform.part(PLANS);
    const setPlan = (change: Change, account: string) => plans.subscriptions.putNew(change, account, planOfNewcomers);
    const newAccount =
      provider?.sign_up === true ? newAccounts({ catalog, region: config.account.region, setPlan }) : undefined;
    const signIn = new SignIn(people, clock, newAccount);
    let client: OutboundClient | undefined;
    const outbound = () => (client ??= createProviderOutbound(config.outbound));
    const onTrouble = (why: string) =>
      log.warn({ provider: provider?.issuer, why }, 'Signing in with OpenID does not work');
    const openId = provider === undefined ? undefined : new OpenId({ settings: provider, outbound, clock, onTrouble });
    return {
      parts: [provide(PEOPLE, { people, signIn, openId }), provide(SESSION_AUTHENTICATOR, signIn.sessions)],
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
      troubles: () => Promise.resolve(troublesOf(openId)),
      close: async () => client?.close(),
    };
  },
};
