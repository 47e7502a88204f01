/** `[openid]` of the settings: sign-in with an account at an OpenID provider. */
import { Type } from 'typebox';
import { defineSettings, OperatorError, type Config, type SettingValues } from '../platform/index.js';

const TEXT_CHARACTERS_MAX = 1000;
const text = Type.String({ maxLength: TEXT_CHARACTERS_MAX });

export const OPENID_SETTINGS = defineSettings('openid', {
  issuer: {
    schema: text,
    default: '',
    comment:
      'Issuer of an OpenID Connect provider, such as "https://login.example.com": people who were invited can sign in there, too. The redirect URI is console.public_url followed by /console/openid. Empty: no sign-in by OpenID Connect.',
  },
  client_id: { schema: text, default: '', comment: 'Id by which the provider knows this service.' },
  client_secret: {
    schema: text,
    default: '',
    comment: 'Secret that the provider gave to this service. Empty: a public client.',
    isSecret: true,
  },
  sign_up: {
    schema: Type.Boolean(),
    default: false,
    comment:
      'Whether people whom the provider knows, and whom nobody has invited, get an account of their own, named after their email. For services that are open to strangers. If anybody can join the provider, set plans.sign_up to a plan with limits.',
  },
  name: {
    schema: Type.String({ maxLength: 100 }),
    default: 'OpenID',
    comment: 'Name of the provider, as people know it.',
  },
});

export type OpenIdSettings = SettingValues<typeof OPENID_SETTINGS.members>;

/** Undefined if no provider is configured. Throws an `OperatorError` if its settings are unusable. */
export function providerOf(
  settings: OpenIdSettings,
  config: Config,
): (OpenIdSettings & { redirectUri: string }) | undefined {
  if (settings.issuer === '') return undefined;
  const { public_url } = config.console;
  if (!URL.canParse(settings.issuer)) throw fault('issuer', `'${settings.issuer}' is no URL`);
  const { protocol } = new URL(settings.issuer);
  if (protocol !== 'https:' && !(protocol === 'http:' && config.outbound.loopback_allowed)) {
    throw fault('issuer', `'${settings.issuer}' does not begin with https://`);
  }
  if (settings.client_id === '') throw fault('client_id', 'it is empty');
  if (public_url === '')
    throw new OperatorError('The setting openid.issuer needs console.public_url: the provider leads back there.');
  return { ...settings, redirectUri: `${public_url.replace(/\/+$/, '')}/console/openid` };
}

function fault(member: string, reason: string): OperatorError {
  return new OperatorError(`The setting openid.${member} cannot be used: ${reason}.`);
}
